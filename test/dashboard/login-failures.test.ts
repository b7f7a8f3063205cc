import assert from 'node:assert/strict'
import { it } from 'node:test'
import { door as german } from '../../src/dashboard/text/de/door.ts'
import { door as english } from '../../src/dashboard/text/en/door.ts'
import { LOGIN_FAILURES } from '../../src/features/tenancy/accounts/oauth/login-failure.ts'

const PREFIX = 'door.failure.'

it('each reason of a failed login has a text of its own, and no text is without a reason', () => {
  for (const table of [english, german]) {
    const texts = Object.entries(table).filter(([key]) => key.startsWith(PREFIX))
    assert.deepEqual(
      texts.map(([key]) => key.slice(PREFIX.length)).sort(),
      [...LOGIN_FAILURES].sort(),
    )
    assert.equal(new Set(texts.map(([, text]) => text)).size, texts.length)
  }
})
