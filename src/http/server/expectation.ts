/**
 * `Expect: 100-continue` (RFC 9110, section 10.1.1): its sender keeps the body back until it is
 * asked for. The listener would ask at once; here whoever reads the body does, so that a request
 * that is refused before gets its refusal alone. Other expectations are ignored.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** As the listener recognises it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** Requests with an expectation become requests like others. */
export function leaveBodiesToReaders(server: Server): void {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    server.emit('request', incoming, outgoing)
  }
  server.on('checkContinue', pass).on('checkExpectation', pass)
}

/** Asks for the body where its sender waits for that. */
export function inviteBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { httpVersion, headers } = incoming
  if (httpVersion !== '1.1' || outgoing.headersSent) return
  if (CONTINUE.test(headers.expect ?? '')) outgoing.writeContinue()
}
