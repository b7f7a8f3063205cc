/** The reasons why a connection ended or could not be opened. */
import { describeError } from '../../base/errors.ts'
import { printable } from './reply-parser.ts'

export type WireFailure = {
  kind: 'network' | 'closed' | 'timeout' | 'protocol' | 'cut'
  text: string
}

export function timedOut(what: string): WireFailure {
  return { kind: 'timeout', text: `timed out: ${what}` }
}

/** For an OpenSSL error, shows the code: the text adds only file names of OpenSSL. */
export function networkFailure(error: NodeJS.ErrnoException): WireFailure {
  const text = error.code?.startsWith('ERR_SSL') ? error.code : describeError(error)
  return { kind: 'network', text: printable(text, 300) }
}

/**
 * The failure of a session that was ended before its greeting, because other mail needed the
 * connection.
 */
export function cutFailure(afterMs: number): WireFailure {
  const seconds = (afterMs / 1_000).toFixed(1)
  return { kind: 'cut', text: `no greeting in ${seconds} s, and other mail needed the connection` }
}
