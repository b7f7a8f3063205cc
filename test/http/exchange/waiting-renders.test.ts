/** Many requests of one address that render: three have the memory for their answers, ten wait for it, the rest is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../../src/store/ids.ts'
import { RENDERING_LIMITS } from '../../../src/turns/rendering.ts'
import { NEVER_MS } from '../../patience.ts'
import { useService } from '../service.ts'

const { service, mine, other } = useService()

const RENDER = { subject: 'Hi', body: '<p>Hi</p>' }
/** That the memory of one address (64 MB) suffices for. */
const AT_ONCE = 3
const REFUSED = 4
const WAIT_MS = 10_000

function ask(method: string, path: string, body?: object, by = mine): Promise<Response> {
  const headers = { authorization: `Bearer ${by.secret}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return fetch(`${service.url}${path}`, { method, headers, ...sent })
}

const renders = (count: number, by = mine) =>
  Array.from({ length: count }, () => ask('POST', '/render', RENDER, by))

describe('S31: requests that render', () => {
  it('are refused at once beyond ten that wait for memory, with 429', async (t) => {
    const rendering = Promise.withResolvers<void>()
    const { preview } = service.core.outbound
    const begun = Promise.withResolvers<void>()
    // No wait for memory ends before the test has looked.
    const { setTimeout: start } = globalThis
    t.mock.method(globalThis, 'setTimeout', (act: () => void, ms?: number) =>
      start(act, ms === WAIT_MS ? NEVER_MS : ms),
    )
    const previews = t.mock.method(service.core.outbound, 'preview', async (...given: never) => {
      if (previews.mock.callCount() === AT_ONCE - 1) begun.resolve()
      await rendering.promise
      return preview(...(given as Parameters<typeof preview>))
    })
    const refused = Promise.withResolvers<void>()
    const statuses: number[] = []
    const asked = renders(AT_ONCE + RENDERING_LIMITS.waitingPerProject + REFUSED).map(
      async (answer) => {
        const { status, headers } = await answer
        statuses.push(headers.has('retry-after') === (status === 429) ? status : -status)
        if (statuses.length === REFUSED) refused.resolve()
      },
    )
    await Promise.all([refused.promise, begun.promise])
    assert.deepEqual(statuses, Array(REFUSED).fill(429))
    assert.equal(previews.mock.callCount(), AT_ONCE)
    const id = newId()
    for (const [method, path] of [
      ['GET', '/activity'],
      ['GET', `/emails/${id}`],
      ['GET', `/emails/${id}/raw`],
      ['POST', `/emails/${id}/cancel`],
      ['POST', `/emails/${id}/retry`],
    ] as const) {
      const { status } = await ask(method, path)
      assert.equal(status, 429, path)
    }
    const [others] = renders(1, other)
    rendering.resolve()
    assert.equal((await others)?.status, 200)
    await Promise.all(asked)
    assert.deepEqual(
      statuses.slice(REFUSED),
      Array(AT_ONCE + RENDERING_LIMITS.waitingPerProject).fill(200),
    )
  })
})
