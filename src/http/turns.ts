/**
 * Requests of one connection, one after the other. A client may send requests without waiting for
 * responses (RFC 9112, section 9.3.2): each begins when the response before it is sent, so that
 * effects keep their order and no more than one response of a connection is kept in memory. While
 * many requests wait, nothing more is read of the connection.
 *
 * Node parses whatever it reads, up to 64 KB at once, and thousands of requests are in that. So it
 * is handed what was read in pieces that end with the head of a request.
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

/** So many requests of a connection may wait before no more is read. */
const MAX_UNANSWERED = 16
/** A piece is at least that long, or the last: a body may hold any number of empty lines. */
const PIECE_BYTES = 4096
const END_OF_HEAD = Buffer.from('\r\n\r\n')

type Line = {
  waiting: Waiting[]
  /** A request has begun. */
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
    const one = { incoming, outgoing }
    line.waiting.push(one)
    outgoing.once('close', () => {
      line.waiting = line.waiting.filter((other) => other !== one)
      line.isBusy = false
      // Not at once: other connections would wait for all that one has sent.
      if (line.waiting.length > 0) setImmediate(() => beginNext(line))
      line.readOn()
    })
    beginNext(line)
  }

  function beginNext(line: Line): void {
    const [next] = line.waiting
    if (next === undefined || line.isBusy) return
    line.isBusy = true
    void answer(next.incoming, next.outgoing)
  }

  function open(socket: Socket): void {
    const line: Line = { waiting: [], isBusy: false, readOn: () => undefined }
    lines.set(socket, line)
    line.readOn = readInPieces(socket, () => line.waiting.length < MAX_UNANSWERED)
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

/** Hands on what is read while `mayRead`; the result reads on after it was false. */
function readInPieces(socket: Socket, mayRead: () => boolean): () => void {
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
      const end = endOfPiece(rest)
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

function endOfPiece(bytes: Buffer): number {
  if (bytes.length <= PIECE_BYTES) return bytes.length
  const head = bytes.indexOf(END_OF_HEAD, PIECE_BYTES - END_OF_HEAD.length)
  return head === -1 ? bytes.length : head + END_OF_HEAD.length
}
