/** The standard streams, environment and signals of a command; tests supply their own. */
import type { Readable, Writable } from 'node:stream'

export type Terminal = {
  /** The standard input, which is a terminal if `isTTY`. */
  stdin: Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable
  env: NodeJS.ProcessEnv
  cwd: string
  signals: Signals
  /** The file in place of /etc/pillarbox/pillarbox.toml, for tests. */
  systemFile?: string
  /** The process runs this one command and nothing else. */
  isWholeProcess?: boolean
}

export type Signals = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  // A closed pipe must not end the process. Callers whose output must arrive await `writeOut`.
  stdout.on('error', () => undefined)
  return { stdin, stdout, stderr, env, cwd: process.cwd(), signals: process, isWholeProcess: true }
}

/**
 * Writes to standard output. Resolves once the output has been handed over.
 * @throws the error of the stream, such as ENOSPC, EPIPE
 */
export function writeOut(
  { stdout }: Pick<Terminal, 'stdout'>,
  text: string | Uint8Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}
