import { isLoopbackHost } from '../../../../config/values/listen-address.ts'

/** Whether a URL leads to this machine by http. All other http would be in clear text on a network. */
export function isLocal(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}
