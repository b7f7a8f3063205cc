/** Lists whose pages have numbers and cursors. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { trustDomain } from '../core.ts'
import { listRoutes } from './listed-routes.ts'
import { useService } from './service.ts'

const started = useService({}, async ({ call, service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  for (let at = 0; at < 5; at += 1) {
    // Two have the same name.
    const name = `n${Math.floor(at / 2)}`
    const mail = { subject: 'Hello', body: '<p>x</p>', from: 'a@example.test' }
    await call('post', '/campaigns')
      .send({ name, ...mail, audienceType: 'ALL' })
      .expect(201)
    await call('post', '/workflows').send({ name, eventName: 'signup' }).expect(201)
  }
})

type Page = {
  data: { id: string }[]
  cursor: string | null
  hasMore: boolean
  total: number
  page: number
  pageSize: number
  totalPages: number
}

it('each list with both kinds of pages refuses a cursor with the number of a page', () => {
  const both = listRoutes(started.service.core).filter(({ query }) => {
    const fields = query === undefined ? {} : z.toJSONSchema(query, { io: 'input' }).properties
    return fields?.cursor !== undefined && fields.page !== undefined
  })
  const paths = both.map(({ path }) => path).sort()
  assert.deepEqual(paths, ['/campaigns', '/templates', '/workflows'])
  for (const { path, query } of both) {
    const issues = query?.safeParse({ cursor: 'x', page: '1' }).error?.issues
    assert.deepEqual(
      issues?.map((issue) => issue.path),
      [['cursor']],
      path,
    )
  }
})

for (const path of ['/campaigns', '/workflows']) {
  const get = async (query: object): Promise<Page> =>
    (await started.call('get', path).query(query).expect(200)).body

  describe(`GET ${path}`, () => {
    const sorts = ['name', 'createdAt', 'updatedAt', ...(path === '/workflows' ? ['steps'] : [])]
    for (const sort of sorts) {
      for (const dir of ['asc', 'desc']) {
        it(`has each row once by cursor, in the order of ${sort} ${dir}`, async () => {
          const whole = await get({ sort, dir })
          assert.deepEqual([whole.total, whole.cursor, whole.hasMore], [5, null, false])
          const seen: string[] = []
          const pages: number[] = []
          let cursor: string | undefined
          do {
            const page = await get({ sort, dir, limit: 2, cursor })
            assert.deepEqual([page.total, page.pageSize, page.totalPages], [5, 2, 3])
            assert.equal(page.hasMore, page.cursor !== null)
            seen.push(...page.data.map(({ id }) => id))
            pages.push(page.page)
            cursor = page.cursor ?? undefined
          } while (cursor !== undefined)
          assert.deepEqual(
            seen,
            whole.data.map(({ id }) => id),
          )
          assert.deepEqual(pages, [1, 2, 3])
        })
      }
    }

    it('goes on by cursor after a page by number, and after the id of a row', async () => {
      const { data } = await get({})
      const second = await get({ page: 2, pageSize: 2 })
      assert.equal(second.hasMore, true)
      const ids = (page: Page) => page.data.map(({ id }) => id)
      const last = await get({ limit: 2, cursor: second.cursor })
      assert.deepEqual(ids(last), ids({ ...last, data: data.slice(4) }))
      assert.deepEqual([last.page, last.cursor, last.hasMore], [3, null, false])
      const after = await get({ limit: 2, cursor: data[0]?.id })
      assert.deepEqual(ids(after), ids({ ...after, data: data.slice(1, 3) }))
      const behind = await get({ page: 9, pageSize: 2 })
      assert.deepEqual([behind.data, behind.total, behind.hasMore], [[], 5, false])
    })

    it('refuses parameters that contradict each other, and cursors of other lists', async () => {
      const { cursor } = await get({ limit: 2 })
      const { body: mail } = await started
        .call('get', path === '/campaigns' ? '/workflows' : '/campaigns')
        .query({ limit: 2 })
      for (const [query, field] of [
        [{ cursor, page: 1 }, 'cursor'],
        [{ limit: 2, pageSize: 3 }, 'limit'],
        [{ cursor, sort: 'name' }, 'cursor'],
        [{ cursor, dir: 'asc' }, 'cursor'],
        [{ cursor: mail.cursor }, 'cursor'],
        [{ cursor: 'x' }, 'cursor'],
        [{ cursor: started.mine.id }, 'cursor'],
        [{ limit: 0 }, 'limit'],
      ] as const) {
        const { body } = await started.call('get', path).query(query).expect(422)
        assert.equal(body.error.errors[0].field, field, JSON.stringify(query))
      }
      await get({ limit: 2, pageSize: 2 })
      await get({ limit: 500, pageSize: 100 })
    })
  })
}
