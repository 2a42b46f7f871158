// The chat's page. It may run our script and show our style and font and images that it is given, and load
// nothing from anywhere else.

export interface PageParts {
  nonce: string;
  /** Where our own files come from. */
  source: string;
  script: string;
  style: string;
}

export function pageHtml({ nonce, source, script, style }: PageParts): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; font-src ${source}; img-src data:`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Odin</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
