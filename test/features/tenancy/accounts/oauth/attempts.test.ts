import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeyring } from '../../../../../src/config/keyring.ts'
import {
  ATTEMPT_MS,
  createLoginAttempts,
} from '../../../../../src/features/tenancy/accounts/oauth/attempts.ts'
import { LoginFailure } from '../../../../../src/features/tenancy/accounts/oauth/login-failure.ts'

const clock = { now: Date.UTC(2026, 10, 21) }
const now = () => clock.now
const open = (secret = 'one', previous: string | null = null) =>
  createLoginAttempts({ keyring: createKeyring(secret, previous), now })

const failsWith = (code: string) => (error: unknown) =>
  error instanceof LoginFailure && error.code === code

describe('the attempts of logins', () => {
  it('come back from their cookie once', async () => {
    const attempts = open()
    const { attempt, cookie } = await attempts.begin('github')
    assert.deepEqual(await attempts.take('github', { cookie, states: [attempt.state] }), attempt)
    const again = attempts.take('github', { cookie, states: [attempt.state] })
    await assert.rejects(again, failsWith('state_mismatch'))
  })

  it('outlive a change of the secret, as long as it is secret_previous', async () => {
    const { attempt, cookie } = await open('old').begin('oidc')
    const states = [attempt.state]
    assert.deepEqual(await open('new', 'old').take('oidc', { cookie, states }), attempt)
    await assert.rejects(open('new').take('oidc', { cookie, states }), failsWith('state_mismatch'))
  })

  it('end after ten minutes', async () => {
    const attempts = open()
    const { attempt, cookie } = await attempts.begin('oidc')
    clock.now += ATTEMPT_MS
    const late = attempts.take('oidc', { cookie, states: [attempt.state] })
    await assert.rejects(late, failsWith('expired'))
  })

  it('remain unused after an answer with a wrong state', async () => {
    const attempts = open()
    const { attempt, cookie } = await attempts.begin('oidc')
    await assert.rejects(attempts.take('oidc', { cookie, states: ['x'] }), LoginFailure)
    assert.deepEqual(await attempts.take('oidc', { cookie, states: [attempt.state] }), attempt)
  })

  it('fit into a cookie, and show nothing', async () => {
    const { attempt, cookie } = await open().begin('github')
    assert.match(cookie, /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
    assert.ok(cookie.length < 600)
    const parts = cookie.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    assert.ok(parts.every((part) => !part.includes(attempt.state) && !part.includes('github')))
  })
})
