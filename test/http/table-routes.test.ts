/** Every call that says so answers CSV to clients that prefer it, and JSON to all others. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { trustDomain } from '../core.ts'
import { addCampaign } from '../features/outreach/campaigns/add-campaign.ts'
import { listRoutes } from './listed-routes.ts'
import { useService } from './service.ts'

const ids: Record<string, string> = {}
const { service, mine, call } = useService({}, async (started) => {
  await trustDomain(started.service.core, started.mine.id, 'example.test')
  const workflow = { name: 'x', eventName: 'signup' }
  const { body } = await started.call('post', '/workflows').send(workflow).expect(201)
  ids.workflows = body.id
  ids.campaigns = await addCampaign(started.service.core, { projectId: started.mine.id })
})

it('is CSV for clients that prefer it', async () => {
  const tables = listRoutes(service.core).filter(({ responses }) => responses[200]?.isTableToo)
  for (const { path } of tables) {
    const url = path.replace(':id', ids[path.split('/')[1] ?? ''] ?? '')
    const query = path === '/analytics/leaderboard' ? { kind: 'campaigns' } : {}
    const asked = () => call('get', url).query(query).expect(200)
    const plain = await asked()
    assert.match(plain.headers['content-type'] ?? '', /^application\/json/, path)
    assert.match(plain.headers.vary ?? '', /Accept/, path)
    const table = await asked().set('Accept', 'text/csv')
    assert.match(table.headers['content-type'] ?? '', /^text\/csv/, path)
    assert.match(table.headers.vary ?? '', /Accept/, path)
    assert.match(table.headers['content-disposition'] ?? '', /^attachment; filename="[^"]+\.csv"$/)
    assert.match(table.text, /^[a-zA-Z.,]+\r\n/, path)
  }
  for (const path of ['/campaigns/:id/stats', '/campaigns/:id/links', '/workflows/:id/stats']) {
    assert.ok(
      tables.some((route) => route.path === path),
      path,
    )
  }
  const { text } = await call('get', `/campaigns/${ids.campaigns}/stats`).set('Accept', 'text/csv')
  const [names = '', values = ''] = text.split('\r\n')
  assert.match(names, /^totalRecipients,|,totalRecipients,/)
  assert.match(names, /,skipped\.suppressed,/)
  assert.equal(values.split(',').length, names.split(',').length)
  const other = await call('get', `/campaigns/${mine.id}/stats`).set('Accept', 'text/csv')
  assert.equal(other.status, 404)
})
