import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailsPath } from '../../src/dashboard/logic/email-links.ts'

test('a link to emails has only the filters that are set', () => {
  assert.equal(emailsPath({}), '/emails')
  assert.equal(
    emailsPath({ state: 'opened,clicked', receiver: 'AT&T', range: undefined }),
    '/emails?state=opened,clicked&receiver=AT%26T',
  )
})
