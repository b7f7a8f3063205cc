/**
 * Requests of one connection, one after the other. A client may send requests without waiting for
 * responses (RFC 9112, section 9.3.2): each is parsed and begins when the response before it is
 * sent, so that effects keep their order and no more than one response of a connection is kept in
 * memory. Until then nothing more is read of the connection.
 *
 * Node parses whatever it reads, up to 64 KB at once, and thousands of requests are in that, each
 * of which costs something again when the connection breaks. So it is handed what was read in pieces
 * that end with the head of a request.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type Turns = {
  /** For the server to call. */
  listener: RequestListener
  /** To be called before the server listens. */
  watch(server: Server): void
  /** The requests of a connection without a whole response, the oldest first. */
  unanswered(socket: Socket): readonly Waiting[]
}

export type Waiting = { incoming: IncomingMessage; outgoing: ServerResponse }

/**
 * Of a body a piece is at least that long, or the last: it may hold any number of empty lines. Where
 * the body ends within it, a few more requests are parsed.
 */
const BODY_PIECE_BYTES = 512
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const [CR, LF] = END_OF_HEAD

type Line = {
  waiting: Waiting[]
  /** The last request that was parsed. */
  last: IncomingMessage | undefined
  /** A request has begun, or its response has ended in this turn of the event loop. */
  isBusy: boolean
  /** Reads on where reading has stopped. */
  readOn(): void
}

export function createTurns(answer: RequestListener): Turns {
  const lines = new WeakMap<Socket, Line>()

  function listener(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const line = lines.get(incoming.socket)
    // Nobody can hear a response to it any more.
    if (line === undefined || !incoming.socket.writable) return
    line.last = incoming
    line.waiting.push({ incoming, outgoing })
    beginNext(line)
  }

  function beginNext(line: Line): void {
    const [next] = line.waiting
    if (next === undefined || line.isBusy) return
    line.isBusy = true
    next.outgoing.once('close', () => {
      line.waiting.shift()
      // Not at once: other connections would wait for all that one has sent.
      setImmediate(() => {
        line.isBusy = false
        beginNext(line)
      })
      line.readOn()
    })
    void answer(next.incoming, next.outgoing)
  }

  function open(socket: Socket): void {
    const line: Line = { waiting: [], last: undefined, isBusy: false, readOn: () => undefined }
    lines.set(socket, line)
    line.readOn = readInPieces(socket, {
      isInBody: () => line.last?.complete === false,
      mayRead: () => line.waiting.length === 0 || line.last?.complete === false,
    })
    socket.once('close', () => {
      line.waiting = []
    })
  }

  return {
    listener,
    watch: (server) => {
      // Above TLS the event of the connection itself comes too early: nothing is decrypted yet.
      server.on('setSecureContext' in server ? 'secureConnection' : 'connection', open)
    },
    unanswered: (socket) => lines.get(socket)?.waiting ?? [],
  }
}

type Reading = {
  /** Of a request that has begun to be parsed more is to come. */
  isInBody(): boolean
  mayRead(): boolean
}

/** Hands on what is read while `mayRead`; the result reads on after it was false. */
function readInPieces(socket: Socket, { isInBody, mayRead }: Reading): () => void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (parse === undefined) throw new TypeError('nothing reads this connection')
  let rest: Buffer | undefined
  let isStopped = false

  function handOn(): void {
    while (rest !== undefined && !socket.isPaused() && socket.writable) {
      if (!mayRead()) {
        isStopped = true
        socket.pause()
        return
      }
      const end = endOfPiece(rest, isInBody())
      const piece = rest.subarray(0, end)
      rest = end === rest.length ? undefined : rest.subarray(end)
      parse?.(piece)
    }
  }

  socket.off('data', parse)
  socket.on('data', (bytes: Buffer) => {
    rest = rest === undefined ? bytes : Buffer.concat([rest, bytes])
    handOn()
  })
  // The parser stops and resumes reading too, as it is able to.
  socket.on('resume', handOn)
  return () => {
    if (!isStopped || !mayRead()) return
    isStopped = false
    socket.resume()
  }
}

function endOfPiece(bytes: Buffer, isInBody: boolean): number {
  const from = isInBody ? BODY_PIECE_BYTES - END_OF_HEAD.length : countBlanks(bytes)
  const head = bytes.indexOf(END_OF_HEAD, from)
  return head === -1 ? bytes.length : head + END_OF_HEAD.length
}

/** Any number of empty lines may stand before a request: they are no pieces of their own. */
function countBlanks(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== CR && byte !== LF)
  return first === -1 ? bytes.length : first
}
