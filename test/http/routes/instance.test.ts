import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { users } from '../../../src/store/schema/accounts.ts'
import { addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const { service } = useService()

let cookie: string
let userId: string

beforeEach(async () => {
  userId = (await addUser(service.core)).id
  cookie = await logIn(service.core, userId)
})

const show = (headers: Record<string, string> = {}) =>
  supertest(service.url).get('/config').set(headers).expect(200)

describe('GET /config', () => {
  it('S39: says nothing of the mode while nobody may log in', async () => {
    const { body: before } = await show()
    assert.deepEqual([before.setup, before.environment], [{ needed: false }, 'direct'])
    await service.core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
    // The session of a user who may not log in is none.
    for (const headers of [{}, { cookie }] as Record<string, string>[]) {
      const response = await show(headers)
      assert.deepEqual(response.body.setup, { needed: true })
      assert.equal('environment' in response.body, false)
      const { environment: _environment, setup: _setup, ...others } = before
      const { setup: _needed, ...rest } = response.body
      assert.deepEqual(rest, others)
    }
    await addUser(service.core)
    assert.deepEqual((await show()).body.setup, { needed: false })
  })
})
