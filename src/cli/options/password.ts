/** Reads a password from standard input, the command line or a prompt. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { type Input, UsageError } from '../engine/command.ts'
import type { Terminal } from '../engine/terminal.ts'

/**
 * Returns the given password; undefined if one must be generated: without a terminal, or after an
 * empty answer.
 */
export async function readGivenPassword(
  terminal: Terminal,
  input: Input,
): Promise<string | undefined> {
  const given = input.text('password')
  if (input.has('passwordStdin')) {
    if (given !== undefined) throw new UsageError('give either --password-stdin or --password')
    return readAll(terminal.stdin)
  }
  if (given !== undefined) {
    const warning =
      '--password is visible to anyone who can list processes; prefer --password-stdin'
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

/**
 * Asks for the password twice. The questions go to standard error, and the answers are not echoed.
 */
async function askTwice({ stdin, stderr }: Terminal): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const typed = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  const lines = typed[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    stderr.write(question)
    const { value, done } = await lines.next()
    stderr.write('\n')
    if (done === true) throw new UsageError('no password was entered')
    return value
  }
  try {
    const password = await ask('Password (empty: generate one): ')
    if (password === '') return undefined
    if ((await ask('Repeat the password: ')) === password) return password
    throw new UsageError('the two passwords differ')
  } finally {
    typed.close()
  }
}
