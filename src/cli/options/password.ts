/** How a command gets a password: from standard input, the command line, or a person who types it. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { type Input, UsageError } from '../engine/command.ts'
import type { Terminal } from '../engine/terminal.ts'

/** Undefined when one is to be made: nobody is there to ask, or they leave it to us. */
export async function choosePassword(
  terminal: Terminal,
  input: Input,
): Promise<string | undefined> {
  const given = input.text('password')
  if (input.has('passwordStdin')) {
    if (given !== undefined) throw new UsageError('either --password-stdin or --password')
    return readAll(terminal.stdin)
  }
  if (given !== undefined) {
    const warning =
      '--password shows it to everybody who may list processes; prefer --password-stdin'
    terminal.stderr.write(`pillarbox: warning: ${warning}\n`)
    return given
  }
  return terminal.stdin.isTTY === true ? askTwice(terminal) : undefined
}

async function readAll(stdin: Terminal['stdin']): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

/** The questions go to stderr, the answers nowhere. */
async function askTwice({ stdin, stderr }: Terminal): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const typed = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  const lines = typed[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    stderr.write(question)
    const { value, done } = await lines.next()
    stderr.write('\n')
    if (done === true) throw new UsageError('no password was given')
    return value
  }
  try {
    const password = await ask('Password (empty: one is made): ')
    if (password === '') return undefined
    if ((await ask('The same again: ')) === password) return password
    throw new UsageError('these were two different passwords')
  } finally {
    typed.close()
  }
}
