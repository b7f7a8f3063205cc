/**
 * `Expect: 100-continue` (RFC 9110, section 10.1.1): the client waits for a 100 before it sends the
 * body. Node would send it at once. Here the reader of the body sends it, so that a request that is
 * refused earlier gets only the refusal. Other expectations are ignored.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** The pattern that Node uses. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** Handles requests with an expectation like all others. */
export function leaveBodiesToReaders(server: Server): void {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    server.emit('request', incoming, outgoing)
  }
  server.on('checkContinue', pass).on('checkExpectation', pass)
}

/** Sends the 100 if the client waits for it. */
export function sendContinueFor(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { httpVersion, headers } = incoming
  if (httpVersion !== '1.1' || outgoing.headersSent) return
  if (CONTINUE.test(headers.expect ?? '')) outgoing.writeContinue()
}
