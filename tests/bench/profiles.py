"""Where the time of a step and of a start goes, as profilers told it once: this part of docs/performance.md is written,
not measured."""

PROFILES = """
## What is over its budget, or near it

- *Overhead per step* in a server, with files of 200 lines: nine events go to the editor in a step, and the client that
  reads them shares the two cores. The processor time of a step in a terminal is below 5 ms.
- *Processor time of a step with Anthropic*: 1.15 to 1.20 of the SDK's loop from run to run. The loop keeps no log of
  the session, judges no call and tells no editor; sending the request is half of both.
- *The last of 300 steps*: the body has grown to half a megabyte, which is joined and sent; what Odin itself does in a
  step is flat (*a step's own cost*).
- *Start of `odin-lsp ask`*: what is left are Odin's own modules, about half, and httpx2 with its parts, a quarter.
  With an Odin that is there it takes a quarter of that time.
- *Commands held to reading*: the namespace and the filter of system calls that hold them take 3 to 4 ms more than
  what keeps a command from writing. In all they stay below 15 ms over bash.
- *Bytes of recorded work*: the feature and the research consist of files that the model wants to see; only what Odin
  adds to them can become less. The rename, which needs no text, is at a fifth.

## Where the time goes

Shares of the processor time of a step of `odin-lsp ask --json`, then with Anthropic's SDK, by `cProfile` over 300 steps
of one `Read` each (commit adc2894):

| cost of a step | share | what became of it |
| --- | --: | --- |
| the request: httpx2 and its parts 24 %, the SDK around them 16 % | 40 % | 24 %: Odin sends with httpx2 itself |
| events: the session's log 11 %, JSON lines 8 % | 21 % | lines go to their thread at a pace; one encoder is kept |
| the call itself: rights, path, lines of the file | 16 % | a path is taken apart six times instead of nine |
| which of the files that were shown have changed | 6 % | 226 hashes of paths in a step less, at 40 files |
| the answer and the result in the session's log | 5 % | the same encoder |

Shares of the time that `odin-lsp ask` takes to import what its first request needs, by `python -X importtime`: 3,562
modules, 2,822 of them of Anthropic's SDK.

| cost of a start | share | what became of it |
| --- | --: | --- |
| Anthropic's SDK | 60 % | gone: of it a header and an address were left |
| Odin's own modules, about half of it for making dataclasses | 21 % | stays |
| anyio, httpx2 and httpcore2 | 11 % | stays: they send the request |
| pydantic | 2 % | stays |
| after the imports: schemas of the tools | – | half: only the class is read whose fields are described |

Memory of an idle server: Python itself 8 MiB; pygls and lsprotocol 30 more; what Odin imports and sets up 38 more;
Anthropic's SDK 43 more, until Odin did without it. Of what Python has allocated when all is imported, a third is the
code of modules, a fifth the classes of lsprotocol, an eighth pydantic's schemas. What imports leave behind was kept
before, 8 MiB: Odin looks for garbage seldom while it starts, in place of never.
"""
