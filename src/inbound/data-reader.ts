/**
 * Reads the DATA phase (RFC 5321 section 4.5.2): finds the end of a message and removes stuffed dots.
 * Only CRLF.CRLF ends a message. A lone CR or LF is content, so that two servers cannot differ on where
 * the next command begins.
 *
 * This replaces smtp-server's own reader, which is correct but needs some microseconds and a turn of the
 * event loop for each stuffed dot: a message full of them would keep a processor busy for minutes.
 */
import type { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'

type Parser = ReturnType<SMTPConnection['_createParser']>

type DataReader = {
  /** Returns the content of a chunk. `rest`: the octets after the message; undefined before its end. */
  read(chunk: Buffer): { content: Buffer; rest: Buffer | undefined }
}

/**
 * `start`: at the start of a line. `dot`: after a dot there. `dot-cr`: after a CR behind that dot. `cr`:
 * after any other CR. `text`: anywhere else.
 */
type LineState = 'text' | 'cr' | 'start' | 'dot' | 'dot-cr'

const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e

export function createDataReader(): DataReader {
  let state: LineState = 'start'
  return {
    read(chunk) {
      if (isPlain(chunk, state)) {
        state = stateAfter(chunk, state)
        return { content: chunk, rest: undefined }
      }
      // One octet more than the chunk, for a CR that was held back at the end of the previous chunk.
      const content = Buffer.allocUnsafe(chunk.length + 1)
      let size = 0
      for (let index = 0; index < chunk.length; index += 1) {
        const octet = chunk[index] ?? 0
        if (state === 'dot-cr') {
          if (octet === LF) {
            return { content: content.subarray(0, size), rest: chunk.subarray(index + 1) }
          }
          content[size++] = CR
          state = 'cr'
        }
        const isKeptBack = (state === 'start' && octet === DOT) || (state === 'dot' && octet === CR)
        if (!isKeptBack) content[size++] = octet
        state = next(state, octet)
      }
      return { content: content.subarray(0, size), rest: undefined }
    },
  }
}

/**
 * Whether a chunk has no dot at the beginning of a line, so that all of it is content: most chunks
 * are plain.
 */
function isPlain(chunk: Buffer, state: LineState): boolean {
  if (state === 'dot' || state === 'dot-cr' || chunk.includes('\r\n.')) return false
  if (state === 'start') return chunk[0] !== DOT
  return state === 'text' || chunk[0] !== LF || chunk[1] !== DOT
}

/** Returns the state after a plain chunk, which its last two octets decide. */
function stateAfter(chunk: Buffer, state: LineState): LineState {
  const [last, before] = [chunk.at(-1), chunk.at(-2)]
  if (last === undefined) return state
  return next(before === undefined ? state : before === CR ? 'cr' : 'text', last)
}

function next(state: LineState, octet: number): LineState {
  if (octet === CR) return state === 'dot' ? 'dot-cr' : 'cr'
  if (octet === LF) return state === 'cr' ? 'start' : 'text'
  return octet === DOT && state === 'start' ? 'dot' : 'text'
}

/** Makes a parser of smtp-server use this reader. */
export function readDataWith(parser: Parser): void {
  let current: Parser['_dataStream'] = null
  let reader = createDataReader()
  parser._feedDataStream = (chunk, done) => {
    const stream = parser._dataStream
    if (stream === null) return done()
    if (stream !== current) reader = createDataReader()
    current = stream
    const { content, rest } = reader.read(chunk)
    parser._countDataBytes(content.length)
    if (rest !== undefined) {
      current = null
      return parser._endDataMode(content, rest, done)
    }
    if (content.length === 0 || !stream.writable || stream.write(content)) return done()
    const go = () => {
      stream.off('drain', go)
      stream.off('close', go)
      done()
    }
    stream.once('drain', go)
    stream.once('close', go)
  }
}
