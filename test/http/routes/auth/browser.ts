/** A browser of tests: a client with an address and a cookie jar. */
import supertest from 'supertest'
import { findDevice } from '../../../../src/features/tenancy/accounts/login/device.ts'
import { DEVICE_COOKIE } from '../../../../src/http/exchange/cookies.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { users } from '../../../../src/store/schema/accounts.ts'
import type { TestCore } from '../../../core.ts'

export type Browser = {
  /** Values by name. */
  cookies: Map<string, string>
  call(
    method: 'get' | 'post' | 'patch' | 'delete',
    path: string,
    body?: object,
  ): Promise<supertest.Response>
}

/** `address`: as a trusted proxy tells it. `headers`: sent with every request. */
export function openBrowser(
  { url }: { url: string },
  address = '192.0.2.1',
  headers: Record<string, string> = {},
): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async call(method, path, body) {
      const request = supertest(url)[method](path).set('X-Forwarded-For', address).set(headers)
      const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      if (jar !== '') request.set('Cookie', jar)
      const response = await request.send(body)
      for (const line of setCookies(response)) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (/; Max-Age=0;/.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
      return response
    },
  }
}

/** Whether the browser that gets this response is one that knows the user from then on. */
export async function makesKnown(
  core: TestCore,
  response: supertest.Response,
  userId: string,
): Promise<boolean> {
  const user = await core.store.read.select().from(users).where(eq(users.id, userId)).get()
  const pairs = setCookies(response).map((line) => line.split(';', 1)[0]?.split('=') ?? [])
  const [, token] = pairs.find(([name]) => name === DEVICE_COOKIE) ?? []
  return (await findDevice(core, user, token)) !== undefined
}

/** The status of a request that needs a session. */
export async function statusOf(browser: Browser): Promise<number> {
  return (await browser.call('get', '/users/@me')).status
}

/** The values of the Set-Cookie header fields. */
export function setCookies({ headers }: supertest.Response): string[] {
  return (headers['set-cookie'] as unknown as string[] | undefined) ?? []
}
