// A language server from PyPI, as extensions bring them: its program and the library to speak to it are the test's.

const { LanguageClient } = require(process.env.LANGUAGE_CLIENT);

exports.activate = (context) => {
  const server = { command: process.env.LANGUAGE_SERVER, args: ["--stdio"] };
  const client = new LanguageClient("pyright", "Pyright", server, { documentSelector: [{ language: "python" }] });
  context.subscriptions.push({ dispose: () => client.stop() });
  return client.start();
};
