/**
 * Refuses requests in clear text, for calls whose body nobody on the way may read or change. A request is not
 * in clear text if it came by TLS to this server, or to a proxy of `http.trusted_proxies` that says so in
 * `X-Forwarded-Proto`. On this machine alone, from a loopback client to a loopback listener, TLS is not needed. What comes
 * from a trusted proxy without `X-Forwarded-For` may be of any client.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { AppError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'
import { type AddressList, isDirect, plainAddress } from '../server/client-address.ts'

type ClearTextDeps = { config: { http: Pick<Config['http'], 'listen'> }; proxies: AddressList }

/** `address`: of the client, as `RawCall` has it. @throws AppError FORBIDDEN */
export function refuseClearText(
  { config, proxies }: ClearTextDeps,
  { incoming, address }: { incoming: IncomingMessage; address: string | null },
): void {
  if (isEncrypted(incoming, proxies)) return
  const isKnown = isDirect(incoming, proxies) && !isSilentProxy(incoming, proxies)
  const isClientHere = address !== null && isLoopbackHost(address) && isKnown
  if (isClientHere && isLoopbackHost(config.http.listen.host)) return
  throw new AppError('FORBIDDEN', 'This call needs HTTPS: others could read it on the way.', {
    suggestion:
      'Call by https. If a proxy does, name it in http.trusted_proxies and let it send X-Forwarded-Proto. On the server, "pillarbox user create --email ADDRESS --operator" makes the first user too.',
  })
}

/**
 * A proxy that adds to the header, and does not replace it, leaves what the client wrote. So each part must say
 * that its connection was encrypted.
 */
function isEncrypted({ socket, headers }: IncomingMessage, proxies: AddressList): boolean {
  if ((socket as Partial<TLSSocket>).encrypted === true) return true
  if (!proxies.has(plainAddress(socket.remoteAddress))) return false
  const parts = String(headers['x-forwarded-proto'] ?? '').split(',')
  return parts.every((part) => part.trim().toLowerCase() === 'https')
}

function isSilentProxy({ socket, headers }: IncomingMessage, proxies: AddressList): boolean {
  if (!proxies.has(plainAddress(socket.remoteAddress))) return false
  const hops = String(headers['x-forwarded-for'] ?? '').split(',')
  return hops.some((hop) => plainAddress(hop.trim()) === null)
}
