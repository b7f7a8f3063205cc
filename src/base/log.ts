/**
 * The log: JSON lines on stderr, one object a line, with the level's name.
 *
 *   info and below    written once per turn of the event loop, all lines of the turn together;
 *                     pending lines are written at the end of the process, after a crash too. A
 *                     line with a `peer` is written at most once a minute per cause and peer, so
 *                     that clients cannot fill the disk with refusals.
 *   warn and above    written at once; the same line at most once a minute per cause.
 *
 * The first line after omitted ones gives their number in `leftOut`.
 *
 * The cause of a line comes from its fields: the code of an error, a site, a file. Ids of emails,
 * requests and peers are not part of it. At warn and above, the domains of the addresses in `to`
 * are part of the cause, so that a full mailbox of one project does not hide another's. Errors
 * whose message says everything (a full disk, a refused connection) have no stack trace.
 *
 * Every field and text passes `redact.ts`. A line has the fields of `withLogFields` around its call, such as
 * the id of the request.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type DestinationStream, destination, type LogFn, type Logger, pino } from 'pino'
import { MINUTE_MS } from './clock.ts'
import { redactFields, redactText } from './redact.ts'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

type LogOptions = {
  /** Called for each omitted line. */
  onLeftOut?: () => void
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number
}

const DEBUG = 20
const WARN = 40
const SAME_LINE_MS = MINUTE_MS
/** The limit of lines in memory. */
const MAX_LINES = 1_000
const MAX_GATHERED = 64 * 1024
const MAX_CAUSE_LENGTH = 300
const MAX_CAUSES = 8

/** The fields that form a line's cause: texts, and names. */
const TEXT_FIELDS = ['error', 'reason'] as const
/** A line about a dropped batch is always logged, because nothing else tells of its emails. */
const NAME_FIELDS = [
  ...(['code', 'site', 'domain', 'kind', 'cron', 'file', 'certFile', 'batch'] as const),
  ...(['part', 'line', 'column'] as const),
] as const

/** `out` replaces stderr in tests: every line is one write. */
export function createLog(
  level: LogLevel,
  out?: DestinationStream,
  { onLeftOut = () => undefined, elapsed = () => performance.now() }: LogOptions = {},
): Log {
  const lines = out === undefined ? gather(standardError()) : unbuffered(out)
  const limiter = createLimiter(elapsed, onLeftOut)
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, severity) {
          const isLimited = severity >= WARN || peerOf(args) !== undefined
          const line = isLimited ? limiter.admit(args, severity) : args
          if (line === undefined) return
          method.apply(this, redactLine(line, this.levelVal <= DEBUG))
          if (severity >= WARN) lines.flush()
        },
      },
    },
    lines,
  )
}

/** A log that drops everything, for tests and one-shot commands. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}

/** Ids of the story that a line belongs to. */
type LogFields = { [Name in `${string}Id`]?: string | undefined }

const storyFields = new AsyncLocalStorage<LogFields>()

/** Runs `act`; the lines that it and its asynchronous work write have these fields, too. */
export function withLogFields<T>(fields: LogFields, act: () => T): T {
  return storyFields.run({ ...storyFields.getStore(), ...fields }, act)
}

/** Adds fields to the innermost `withLogFields` that runs. */
export function addLogFields(fields: LogFields): void {
  Object.assign(storyFields.getStore() ?? {}, fields)
}

/** The first argument of a line is an error, an object of fields, or the text. */
function redactLine([first, ...rest]: LogCall, showsAddresses: boolean): LogCall {
  const options = { showsAddresses }
  const given = first instanceof Error ? { error: first } : typeof first === 'object' ? first : {}
  const all = { ...storyFields.getStore(), ...(given as object) } as Fields
  const line: unknown[] = [
    redactFields(all.error === undefined ? all : withShownError(all), options),
  ]
  for (const each of typeof first === 'object' ? rest : [first, ...rest]) {
    line.push(typeof each === 'string' ? redactText(each, options) : each)
  }
  return line as unknown as LogCall
}

function withShownError({ error, ...others }: Fields): Fields {
  return { ...others, error: showError(error) }
}

type Fields = Record<string, unknown>

type Lines = DestinationStream & { flush(): void }

function unbuffered(out: DestinationStream): Lines {
  return { write: (line) => out.write(line), flush: () => undefined }
}

/**
 * Standard error for the log. Errors of a closed terminal (EIO, EPIPE) are ignored, so that a server can
 * still stop in order.
 */
function standardError(): DestinationStream {
  const out = destination({ fd: 2, sync: true })
  out.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO' && error.code !== 'EPIPE') throw error
  })
  return out
}

function gather(out: DestinationStream): Lines {
  let waiting = ''
  let pendingFlush: NodeJS.Immediate | undefined

  function flush(): void {
    clearImmediate(pendingFlush)
    pendingFlush = undefined
    process.off('exit', flush)
    const text = waiting
    waiting = ''
    if (text !== '') out.write(text)
  }

  return {
    write(line) {
      waiting += line
      if (waiting.length > MAX_GATHERED) return flush()
      if (pendingFlush !== undefined) return
      pendingFlush = setImmediate(flush)
      process.once('exit', flush)
    },
    flush,
  }
}

type LogCall = Parameters<LogFn>

function createLimiter(elapsed: () => number, onLeftOut: () => void) {
  /** When the last line of each cause was written, in the order of writing. */
  const lines = new Map<string, { writtenAt: number; leftOut: number }>()

  function forgetOldest(): void {
    const [oldest] = lines.keys()
    if (oldest !== undefined) lines.delete(oldest)
  }

  /** The line to write; undefined when it is omitted. */
  function admit(line: LogCall, severity: number): LogCall | undefined {
    const party = severity < WARN ? peerOf(line) : domainsOf(line)
    const key = `${severity} ${party ?? ''} ${causeOf(line)}`
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

function withCount([first, ...rest]: LogCall, leftOut: number): LogCall {
  if (first instanceof Error) return [{ error: first, leftOut }, ...rest] as unknown as LogCall
  if (typeof first === 'object') return [{ ...(first as object), leftOut }, ...rest] as LogCall
  return [{ leftOut }, first, ...rest] as unknown as LogCall
}

/** The peer that a line concerns, if any. */
function peerOf([first]: LogCall): unknown {
  return typeof first === 'object' && first !== null && 'peer' in first ? first.peer : undefined
}

/** The domains of the addresses in `to`. */
function domainsOf([first]: LogCall): string {
  const to = typeof first === 'object' && first !== null && 'to' in first ? first.to : []
  const domains = [to].flat().flatMap((given) => /@([^@]*)$/.exec(String(given))?.[1] ?? [])
  return [...new Set(domains.map((name) => name.toLowerCase()))]
    .sort()
    .join(' ')
    .slice(0, MAX_CAUSE_LENGTH)
}

/** The text of a line with the cause from its fields. */
function causeOf([first, text]: LogCall): string {
  if (typeof first !== 'object' || first === null) return String(first)
  const fields = first as Record<string, unknown>
  if (first instanceof Error) return `${text} ${causeText(first)}`
  const texts = TEXT_FIELDS.map((name) => causeText(fields[name]))
  const names = NAME_FIELDS.map((name) => String(fields[name]).slice(0, MAX_CAUSE_LENGTH))
  return [text, ...texts, ...names].join(' ')
}

/** Removes numbers and ids, which differ between lines of one cause. */
function causeText(value: unknown): string {
  const text = value instanceof Error ? (codeOf(rootOf(value)) ?? rootOf(value).message) : value
  return String(text)
    .slice(0, MAX_CAUSE_LENGTH)
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#')
}

/** Shows an error. A text stays as it is: much of the program logs the message of an error. */
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
 * Errors caused by the system, the disk, a peer or a caller, for which a stack trace says nothing.
 * SQLITE_ERROR, SQLITE_CONSTRAINT and the like are faults of the program.
 */
const PLAIN_CODES =
  /^(E[A-Z0-9]+|SQLITE_(FULL|IOERR|BUSY|LOCKED|CANTOPEN|READONLY|CORRUPT|NOTADB|NOMEM|PERM)\w*|ERR_(SSL|OSSL|TLS|STREAM_PREMATURE_CLOSE|SOCKET)\w*|HPE_\w+|CERT_\w+|DEPTH_ZERO_\w+)$/

function isPlain(root: Error): boolean {
  return PLAIN_CODES.test(codeOf(root) ?? '') || root.name === 'AppError'
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function rootOf(error: Error): Error {
  return causesOf(error).at(-1) ?? error
}

/** An error, its cause, the cause of its cause, and so on. */
function causesOf(error: Error): Error[] {
  const chain = [error]
  for (let next = error.cause; next instanceof Error; next = next.cause) {
    if (chain.length === MAX_CAUSES) break
    chain.push(next)
  }
  return chain
}
