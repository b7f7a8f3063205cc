/** How a connection is protected, as attempts tell: 'TLSv1.3, certificate verified (CIPHER)'. */
import type { TLSSocket } from 'node:tls'

/** Verified: issued to the host by somebody whom this system trusts, whether or not we insist. */
export function tlsText(socket: TLSSocket): string {
  const protocol = socket.getProtocol() ?? 'TLS'
  const cipher = socket.getCipher()?.standardName
  const certificate = `certificate ${socket.authorized ? '' : 'not '}verified`
  return `${protocol}, ${certificate}${cipher ? ` (${cipher})` : ''}`
}
