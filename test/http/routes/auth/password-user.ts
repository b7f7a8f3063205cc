/** A user with a password, new for each test, and the browsers in which they log in. */
import assert from 'node:assert/strict'
import { before, beforeEach } from 'node:test'
import { createLoginThrottle } from '../../../../src/features/tenancy/accounts/login/throttle.ts'
import { hashPassword } from '../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import type { TestCore } from '../../../core.ts'
import { addUser } from '../../../session.ts'
import { type Browser, openBrowser } from './browser.ts'

export const PASSWORD = 'correct horse'

type Input = { password?: string; code?: string | undefined }

/** `service` may be empty until the tests begin. No failed login of an earlier test counts. */
export function usePasswordUser(service: { url: string; core: TestCore }) {
  const user = { id: '', address: '' }
  let passwordHash = ''
  before(async () => {
    passwordHash = await hashPassword(PASSWORD)
  })
  const addOther = () => addUser(service.core, { passwordHash })
  beforeEach(async () => {
    service.core.loginThrottle = createLoginThrottle(service.core.now)
    Object.assign(user, await addOther())
  })
  const login = (input: Input = {}, browser = openBrowser(service)) =>
    browser.call('post', '/auth/login', { email: user.address, password: PASSWORD, ...input })
  return {
    user,
    /** Adds a user with the same password. */
    addOther,
    login,
    async loggedIn(password = PASSWORD): Promise<Browser> {
      const browser = openBrowser(service)
      const { body } = await login({ password }, browser)
      assert.equal(body.success, true)
      return browser
    },
  }
}
