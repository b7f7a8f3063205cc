/** A server whose project `mine` mails the users, and requests of people without a session. */
import supertest from 'supertest'
import { trustDomain } from '../../../core.ts'
import { useService } from '../../service.ts'
import { setCookies } from './browser.ts'

export const clock = { now: Date.UTC(2026, 10, 21, 12) }

export const BASE_URL = 'https://mail.shop.test'

const later = Number.MAX_SAFE_INTEGER
const found = (domain: string) => ['example.net', 'no-mx.test'].includes(domain)

export function useNewcomers() {
  let count = 0
  const started = useService(
    {
      now: () => clock.now,
      http: { trustedProxies: ['loopback'] },
      accounts: { disableSignups: false },
      delivery: { mode: 'sandbox' },
      baseUrl: BASE_URL,
      resolver: {
        mx: async (domain) =>
          domain === 'example.net'
            ? { kind: 'found', records: [{ preference: 10, host: 'mx.test' }], expiresAt: later }
            : { kind: found(domain) ? 'nodata' : 'nxdomain', expiresAt: later },
        a: async (domain) =>
          found(domain)
            ? { kind: 'found', records: ['192.0.2.1'], expiresAt: later }
            : { kind: 'nxdomain', expiresAt: later },
      },
    },
    ({ service, mine }) => trustDomain(service.core, mine.id, 'example.test'),
  )
  /** Each request comes from a network of its own, unless `from` says which. */
  const post = (path: string, body: object, headers: Record<string, string> = {}) => {
    count += 1
    const from = `198.51.${Math.floor(count / 250)}.${count % 250}`
    return supertest(started.service.url)
      .post(path)
      .set({ 'x-forwarded-for': from, ...headers })
      .send(body)
  }
  const newAddress = () => {
    count += 1
    return `newcomer${count}@example.net`
  }
  return { ...started, post, newAddress }
}

/** The value of the header Cookie that a response's cookies give. */
export function cookieOf(response: supertest.Response): string {
  const [cookie = ''] = setCookies(response)
  return cookie.split(';')[0] ?? ''
}
