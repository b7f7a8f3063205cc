import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailsPath, oneWaiting } from '../../src/dashboard/logic/email-links.ts'

test('a link to emails has only the filters that are set', () => {
  assert.equal(emailsPath({}), '/emails')
  assert.equal(
    emailsPath({ status: 'OPENED,CLICKED', receiver: 'AT&T', range: undefined }),
    '/emails?status=OPENED,CLICKED&receiver=AT%26T',
  )
})

test('asks for waiting mail by the state, which the queue has, and for no total', () => {
  const query = oneWaiting('a.example')
  assert.deepEqual(query, { state: 'waiting', limit: 1, total: false, domain: 'a.example' })
})
