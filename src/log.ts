/**
 * The log: JSON lines on stderr, one object a line, levels by name.
 *
 *   info and below    written once a turn of the event loop, all lines of the turn together; at the
 *                     end of the process, a crash included, what waits is written. What names a
 *                     `peer` is written at most once a minute per cause and peer: strangers may
 *                     not fill the disk with refusals.
 *   warn and above    written at once; the same line at most once a minute per cause.
 *
 * The line after those left out says in `leftOut` how many they were.
 *
 * The cause of a line is what its fields name as such: an error by its code, a site, a file. Ids of
 * emails, requests and peers are no causes; of `to` the domains are, at warn and above, where they are
 * domains of ours (a full mailbox of one project hides none of another). Faults that say all in one line (a full disk, a refused
 * connection) have no stack trace. Addresses in `to`, `from` and `recipient` keep their first letter
 * and their domain.
 */

import { type DestinationStream, destination, type LogFn, type Logger, pino } from 'pino'
import { MINUTE_MS } from './clock.ts'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

export type LogOptions = {
  /** Hears of each line that is left out. */
  onLeftOut?: () => void
  /** Milliseconds of a clock that never jumps. */
  elapsed?: () => number
}

const WARN = 40
const SAME_LINE_MS = MINUTE_MS
/** Of lines that are remembered. */
const MAX_LINES = 1_000
const MAX_GATHERED = 64 * 1024
const MAX_CAUSE_LENGTH = 300
const MAX_CAUSES = 8

/** What a line names as its cause: by a text of people, and by names. */
const TEXT_FIELDS = ['error', 'reason'] as const
const NAME_FIELDS = ['code', 'site', 'domain', 'kind', 'cron', 'file', 'certFile'] as const

/** `out` in place of stderr is for tests: every line is a write of its own. */
export function createLog(
  level: LogLevel,
  out?: DestinationStream,
  { onLeftOut = () => undefined, elapsed = () => performance.now() }: LogOptions = {},
): Log {
  const lines = out === undefined ? gather(destination({ fd: 2, sync: true })) : unbuffered(out)
  const limiter = createLimiter(elapsed, onLeftOut)
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: showError, to: maskAll, from: maskAll, recipient: maskAll },
      hooks: {
        logMethod(args, method, severity) {
          const isLimited = severity >= WARN || peerOf(args) !== undefined
          const line = isLimited ? limiter.admit(args, severity) : args
          if (line === undefined) return
          method.apply(this, line)
          if (severity >= WARN) lines.flush()
        },
      },
    },
    lines,
  )
}

/** For callers that keep no log, as tests and one-shot commands. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}

/** `alice@example.com` as `a…@example.com`, wherever one stands in the text. */
export function maskAddresses(text: string): string {
  return text.replace(/([^\s<>"'(),;:@])[^\s<>"'(),;:@]*@/gu, '$1…@')
}

function maskAll(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskAll)
  return typeof value === 'string' ? maskAddresses(value) : value
}

type Lines = DestinationStream & { flush(): void }

function unbuffered(out: DestinationStream): Lines {
  return { write: (line) => out.write(line), flush: () => undefined }
}

function gather(out: DestinationStream): Lines {
  let waiting = ''
  let turn: NodeJS.Immediate | undefined

  function flush(): void {
    clearImmediate(turn)
    turn = undefined
    process.off('exit', flush)
    const text = waiting
    waiting = ''
    if (text !== '') out.write(text)
  }

  return {
    write(line) {
      waiting += line
      if (waiting.length > MAX_GATHERED) return flush()
      if (turn !== undefined) return
      turn = setImmediate(flush)
      process.once('exit', flush)
    },
    flush,
  }
}

type Line = Parameters<LogFn>

function createLimiter(elapsed: () => number, onLeftOut: () => void) {
  /** In the order in which they were written. */
  const lines = new Map<string, { writtenAt: number; leftOut: number }>()

  function forgetOldest(): void {
    const [oldest] = lines.keys()
    if (oldest !== undefined) lines.delete(oldest)
  }

  /** The line as it is to be written; undefined when it is left out. */
  function admit(line: Line, severity: number): Line | undefined {
    const whom = severity < WARN ? peerOf(line) : domainsOf(line)
    const key = `${severity} ${whom ?? ''} ${causeOf(line)}`
    const at = elapsed()
    const last = lines.get(key)
    if (last !== undefined && at - last.writtenAt < SAME_LINE_MS) {
      last.leftOut += 1
      onLeftOut()
      return undefined
    }
    lines.delete(key)
    if (lines.size >= MAX_LINES) forgetOldest()
    lines.set(key, { writtenAt: at, leftOut: 0 })
    return last === undefined || last.leftOut === 0 ? line : withCount(line, last.leftOut)
  }

  return { admit }
}

function withCount([first, ...rest]: Line, leftOut: number): Line {
  if (first instanceof Error) return [{ error: first, leftOut }, ...rest] as unknown as Line
  if (typeof first === 'object') return [{ ...(first as object), leftOut }, ...rest] as Line
  return [{ leftOut }, first, ...rest] as unknown as Line
}

/** Whom a line is about, where that is somebody at the other end of a connection. */
function peerOf([first]: Line): unknown {
  return typeof first === 'object' && first !== null && 'peer' in first ? first.peer : undefined
}

/** Of the addresses in `to`. */
function domainsOf([first]: Line): string {
  const to = typeof first === 'object' && first !== null && 'to' in first ? first.to : []
  const domains = [to].flat().flatMap((given) => /@([^@]*)$/.exec(String(given))?.[1] ?? [])
  return [...new Set(domains.map((name) => name.toLowerCase()))]
    .sort()
    .join(' ')
    .slice(0, MAX_CAUSE_LENGTH)
}

/** The text of a line, and what its fields name as its cause. */
function causeOf([first, text]: Line): string {
  if (typeof first !== 'object' || first === null) return String(first)
  const fields = first as Record<string, unknown>
  if (first instanceof Error) return `${text} ${causeText(first)}`
  const texts = TEXT_FIELDS.map((name) => causeText(fields[name]))
  const names = NAME_FIELDS.map((name) => String(fields[name]).slice(0, MAX_CAUSE_LENGTH))
  return [text, ...texts, ...names].join(' ')
}

/** Numbers and ids in a text differ from line to line of one cause. */
function causeText(value: unknown): string {
  const told = value instanceof Error ? (codeOf(rootOf(value)) ?? rootOf(value).message) : value
  return String(told)
    .slice(0, MAX_CAUSE_LENGTH)
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#')
}

/** Texts stay as they are: much of the program logs what an error says of itself. */
function showError(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const chain = causesOf(value)
  const root = rootOf(value)
  const code = codeOf(root) ?? codeOf(value)
  return {
    type: root.name,
    message: chain.map(({ message }) => message).join(': '),
    ...(code === undefined ? {} : { code }),
    ...('path' in root ? { path: root.path } : {}),
    ...(isPlain(root) ? {} : { stack: chain.map(({ stack }) => stack).join('\ncaused by: ') }),
  }
}

/**
 * What the system, the disk, a peer or a caller did: where in the program that was noticed tells
 * nothing. SQLITE_ERROR, SQLITE_CONSTRAINT and their like are mistakes of ours.
 */
const plainCodes =
  /^(E[A-Z0-9]+|SQLITE_(FULL|IOERR|BUSY|LOCKED|CANTOPEN|READONLY|CORRUPT|NOTADB|NOMEM|PERM)\w*|ERR_(SSL|OSSL|TLS|STREAM_PREMATURE_CLOSE|SOCKET)\w*|HPE_\w+|CERT_\w+|DEPTH_ZERO_\w+)$/

function isPlain(root: Error): boolean {
  return plainCodes.test(codeOf(root) ?? '') || root.name === 'AppError'
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function rootOf(error: Error): Error {
  return causesOf(error).at(-1) ?? error
}

/** The error, its cause, the cause of that. */
function causesOf(error: Error): Error[] {
  const chain = [error]
  for (let next = error.cause; next instanceof Error; next = next.cause) {
    if (chain.length === MAX_CAUSES) break
    chain.push(next)
  }
  return chain
}
