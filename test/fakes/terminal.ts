/** A terminal for commands in this process; it records their output. */
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { runCli } from '../../src/cli/cli.ts'
import type { Terminal } from '../../src/cli/engine/terminal.ts'

type FakeTerminal = Terminal & {
  stdin: PassThrough & { isTTY?: boolean }
  signals: EventEmitter
  /** The output so far. */
  out(): string
  err(): string
  /** Resolves when stdout matches the pattern. */
  seen(pattern: RegExp): Promise<void>
}

export type Outcome = { status: number; out: string; err: string; raw: Buffer }

type TerminalOptions = {
  cwd: string
  env?: NodeJS.ProcessEnv
  /** The whole standard input. */
  input?: string
  isTTY?: boolean
  systemFile?: string
}

export function makeTerminal({
  cwd,
  env = {},
  input,
  isTTY,
  systemFile,
}: TerminalOptions): FakeTerminal {
  const stdin = new PassThrough() as FakeTerminal['stdin']
  if (isTTY !== undefined) stdin.isTTY = isTTY
  if (input !== undefined) stdin.end(input)
  const [stdout, stderr] = [keeper(), keeper()]
  const seen = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const poll = () => {
        if (!pattern.test(stdout.text())) return
        stdout.stream.off('kept', poll)
        resolve()
      }
      stdout.stream.on('kept', poll)
      poll()
    })
  return {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    cwd,
    ...(systemFile === undefined ? {} : { systemFile }),
    signals: new EventEmitter(),
    out: stdout.text,
    err: stderr.text,
    seen,
  }
}

/** Runs one command to its end. */
export async function runAt(options: TerminalOptions, ...argv: string[]): Promise<Outcome> {
  const terminal = makeTerminal({ input: '', ...options })
  const chunks: Buffer[] = []
  const stdout = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  const status = await runCli(argv, { ...terminal, stdout })
  const raw = Buffer.concat(chunks)
  return { status, out: raw.toString('utf8'), err: terminal.err(), raw }
}

function keeper() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
      stream.emit('kept')
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
