/** TLS on a connection that is there (RFC 3207): opportunistic, so any certificate will do. */
import { isIP, type Socket } from 'node:net'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import { networkFailure, timedOut, type WireFailure } from './wire-failure.ts'

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
    const onClose = () => settle({ kind: 'closed', text: 'the server closed during the handshake' })
    const onError = (error: Error) => settle(networkFailure(error))
    const timer = setTimeout(() => settle(timedOut('the TLS handshake')), limitMs)
    secured.once('close', onClose)
    secured.once('error', onError)
    secured.once('secureConnect', () => settle(secured))
  })
}

/** What SNI can carry; the name came out of DNS. */
function isHostName(name: string): boolean {
  return isIP(name) === 0 && /^[a-z0-9._-]{1,253}$/i.test(name)
}
