/** Reads the certificate of a TLS server. Any certificate will do; nothing is sent over the connection. */
import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { describeError } from '../../base/errors.ts'

export type TlsProbe = {
  /** An IP address. */
  address: string
  port: number
  /** The name that the client asks for. */
  servername: string
  limitMs: number
  /** The trusted authorities in PEM; default: the well-known certificate authorities. */
  ca?: string | undefined
}

export type TlsFindings =
  /** `distrust`: why a client refuses the certificate, such as `CERT_HAS_EXPIRED`; null if it does not. */
  | { certificate: X509Certificate; distrust: string | null; error: null }
  | { certificate: null; error: string }

/** @throws TypeError when `address` is not an IP address */
export function probeTls({
  address,
  port,
  servername,
  limitMs,
  ca,
}: TlsProbe): Promise<TlsFindings> {
  if (isIP(address) === 0) {
    throw new TypeError('A socket is opened to an address, not to a name.')
  }
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host: address, port, rejectUnauthorized: false },
      ...(isIP(servername) === 0 ? { servername } : {}),
      ...(ca === undefined ? {} : { ca }),
    })
    const settle = (findings: TlsFindings) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(findings)
    }
    const fail = (error: string) => settle({ certificate: null, error })
    const timer = setTimeout(() => fail('timed out: the TLS handshake'), limitMs)
    socket.on('error', (error) => fail(describeError(error)))
    socket.once('close', () => fail('the server closed the connection'))
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (certificate === undefined) fail('the server sent no certificate')
      else settle({ certificate, distrust: distrustOf(socket), error: null })
    })
  })
}

/**
 * `authorizationError` has the type of an error, but with `rejectUnauthorized: false` it is the code of an
 * error.
 */
function distrustOf({ authorized, authorizationError }: TLSSocket): string | null {
  return authorized ? null : String(authorizationError)
}
