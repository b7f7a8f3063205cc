/** TLS on an open connection (STARTTLS, RFC 3207). It is opportunistic: any certificate is accepted. */
import { isIP, type Socket } from 'node:net'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import { networkFailure, timedOut, type WireFailure } from './reply-parser.ts'

export type UpgradeOptions = {
  servername: string
  limitMs: number
  secureContext: SecureContext | undefined
}

export function startTls(plain: Socket, options: UpgradeOptions): Promise<TLSSocket | WireFailure> {
  const { servername, secureContext, limitMs } = options
  return new Promise((resolve) => {
    const secured = connect({
      socket: plain,
      rejectUnauthorized: false,
      ...(isHostName(servername) ? { servername } : {}),
      ...(secureContext ? { secureContext } : {}),
    })
    const settle = (result: TLSSocket | WireFailure) => {
      clearTimeout(timer)
      secured.removeListener('close', onClose)
      secured.removeListener('error', onError)
      if ('kind' in result) secured.on('error', () => undefined).destroy()
      resolve(result)
    }
    const onClose = () =>
      settle({ kind: 'closed', text: 'the server closed the connection during the handshake' })
    const onError = (error: Error) => settle(networkFailure(error))
    const timer = setTimeout(() => settle(timedOut('the TLS handshake')), limitMs)
    secured.once('close', onClose)
    secured.once('error', onError)
    secured.once('secureConnect', () => settle(secured))
  })
}

/** Whether SNI can carry the name, which came from DNS. */
function isHostName(name: string): boolean {
  return isIP(name) === 0 && /^[a-z0-9._-]{1,253}$/i.test(name)
}

/**
 * Describes the protection of a connection for the attempt: 'TLSv1.3, certificate verified (CIPHER)'.
 * A verified certificate was issued to the host by an authority that this system trusts; it may be
 * verified even if that is not required.
 */
export function tlsText(socket: TLSSocket): string {
  const protocol = socket.getProtocol() ?? 'TLS'
  const cipher = socket.getCipher()?.standardName
  const certificate = `certificate ${socket.authorized ? '' : 'not '}verified`
  return `${protocol}, ${certificate}${cipher ? ` (${cipher})` : ''}`
}
