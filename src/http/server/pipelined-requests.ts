/**
 * Handles pipelined HTTP requests of a connection one after the other. A client may send requests
 * without waiting for responses (RFC 9112, section 9.3.2). The next request is parsed and begun
 * once the response to the previous one has been sent, so that effects keep their order and at most
 * one response of a connection is in memory. Until then the connection is not read.
 *
 * Node parses up to 64 KB at once, which may contain thousands of requests, and each of them costs
 * time once more when the connection breaks. The parser therefore gets the input in pieces that end
 * with the head of a request.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestPipelines = {
  /** The request listener of the server. */
  listener: RequestListener
  /** Must be called before the server listens. */
  watch(server: Server): void
  /** The requests of a connection without a complete response, oldest first. */
  pendingRequests(socket: Socket): readonly PendingRequest[]
}

type PendingRequest = { incoming: IncomingMessage; outgoing: ServerResponse }

/**
 * The minimum size of a piece of a body, which may hold any number of empty lines. If the body ends
 * within the piece, a few more requests are parsed with it.
 */
const BODY_PIECE_BYTES = 512
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const [CR, LF] = END_OF_HEAD

type RequestPipeline = {
  pending: PendingRequest[]
  /** The request that was parsed last. */
  last: IncomingMessage | undefined
  /** A request is running, or its response ended in this turn of the event loop. */
  isBusy: boolean
  /** The requests that were parsed. */
  count: number
  /** Continues to read after a stop. */
  readOn(): void
}

/**
 * A connection ends with the response to its request number `maxRequests`; later requests are
 * dropped.
 */
export function createRequestPipelines(
  handle: RequestListener,
  maxRequests = Number.POSITIVE_INFINITY,
): RequestPipelines {
  const pipelines = new WeakMap<Socket, RequestPipeline>()

  function listener(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const pipeline = pipelines.get(incoming.socket)
    // The connection is broken, so no response can be sent.
    if (pipeline === undefined || !incoming.socket.writable) return
    pipeline.count += 1
    if (pipeline.count > maxRequests) return
    if (pipeline.count === maxRequests) outgoing.shouldKeepAlive = false
    pipeline.last = incoming
    pipeline.pending.push({ incoming, outgoing })
    beginNext(pipeline)
  }

  function beginNext(pipeline: RequestPipeline): void {
    const [next] = pipeline.pending
    if (next === undefined || pipeline.isBusy) return
    // The connection ended with the response before.
    if (!next.incoming.socket.writable) return
    pipeline.isBusy = true
    next.outgoing.on('close', () => {
      pipeline.pending.shift()
      // The next request begins in another turn, so that other connections do not wait for all requests of
      // this one.
      setImmediate(() => {
        pipeline.isBusy = false
        beginNext(pipeline)
      })
      pipeline.readOn()
    })
    void handle(next.incoming, next.outgoing)
  }

  function open(socket: Socket): void {
    const pipeline: RequestPipeline = {
      pending: [],
      last: undefined,
      isBusy: false,
      count: 0,
      readOn: () => undefined,
    }
    pipelines.set(socket, pipeline)
    pipeline.readOn = readInPieces(socket, {
      isInBody: () => pipeline.last?.complete === false,
      mayRead: () => pipeline.pending.length === 0 || pipeline.last?.complete === false,
    })
    socket.once('close', () => {
      pipeline.pending = []
    })
  }

  return {
    listener,
    watch: (server) => {
      // With TLS the event `connection` comes before decryption, which is too early.
      server.on('setSecureContext' in server ? 'secureConnection' : 'connection', open)
    },
    pendingRequests: (socket) => pipelines.get(socket)?.pending ?? [],
  }
}

type ReadControl = {
  /** Whether the body of the last request is incomplete. */
  isInBody(): boolean
  mayRead(): boolean
}

/**
 * Passes input to the parser while `mayRead` returns true. The returned function goes on after
 * `mayRead` has returned false.
 */
function readInPieces(socket: Socket, { isInBody, mayRead }: ReadControl): () => void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (parse === undefined) throw new TypeError('nothing reads this connection')
  let rest: Buffer | undefined
  let isStopped = false

  function passOn(): void {
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
    passOn()
  })
  // The parser pauses and resumes the socket too.
  socket.on('resume', passOn)
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

/** Empty lines before a request do not end a piece. */
function countBlanks(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== CR && byte !== LF)
  return first === -1 ? bytes.length : first
}
