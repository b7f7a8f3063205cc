import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailsPath } from '../../src/dashboard/logic/email-links.ts'

test('a link to emails has only the filters that are set', () => {
  assert.equal(emailsPath({}), '/emails')
  assert.equal(
    emailsPath({ status: 'OPENED,CLICKED', receiver: 'AT&T', range: undefined }),
    '/emails?status=OPENED,CLICKED&receiver=AT%26T',
  )
})
