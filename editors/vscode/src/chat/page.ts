// The chat's page. It may run our script and show our style and font and images that it is given, and load
// nothing from anywhere else.

import type { Texts } from "../l10n";

export interface PageParts {
  /** The language that the page speaks. */
  language: string;
  texts: Texts;
  nonce: string;
  /** Where our own files come from. */
  source: string;
  script: string;
  style: string;
}

export function pageHtml({ language, texts, nonce, source, script, style }: PageParts): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; font-src ${source}; img-src data:`;
  return `<!doctype html>
<html lang="${quoted(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Odin</title>
<link rel="stylesheet" href="${style}">
</head>
<body data-texts="${quoted(JSON.stringify(texts))}">
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

function quoted(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
