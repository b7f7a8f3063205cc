import assert from 'node:assert/strict'
import { it } from 'node:test'
import supertest from 'supertest'
import { addHourCounts } from '../../../src/features/insight/reputation/follow-events.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const HOUR_MS = 3_600_000

const { service, mine, other, call } = useService(
  {},
  async ({ service: { core }, mine: project }) => {
    const at = core.now()
    const startsAt = at - (at % HOUR_MS)
    await core.store.write((tx) =>
      addHourCounts(tx, [
        { projectId: project.id, startsAt, emails: 200, bounces: 30, complaints: 3 },
      ]),
    )
  },
)

const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }
const counts = { total: 200, bounces: 30, complaints: 3, bounceRate: 15, complaintRate: 1.5 }

const expected = () => ({
  status: {
    projectId: mine.id,
    isHealthy: false,
    shouldDisable: true,
    twentyFourHour: none,
    sevenDay: counts,
    allTime: counts,
    isNewProject: false,
    violations: ['Too many emails bounce.'],
    warnings: ['Many emails bounce.', 'Many recipients complain.'],
    findings: [
      { kind: 'bounce', level: 'critical' },
      { kind: 'bounce', level: 'warning' },
      { kind: 'complaint', level: 'warning' },
    ],
  },
  levels: {
    bounce7Day: 'critical',
    bounceAllTime: 'critical',
    complaint7Day: 'critical',
    complaintAllTime: 'critical',
  },
  isDisabled: false,
})

it('members see the metrics of their project, without the limits and what is judged by the day', async () => {
  const { id: userId } = await addUser(service.core)
  await addMember(service.core, { projectId: mine.id, userId, role: 'MEMBER' })
  const cookie = await logIn(service.core, userId)
  const own = await supertest(service.url)
    .get(`/users/@me/projects/${mine.id}/security`)
    .set('Cookie', cookie)
  assert.deepEqual([own.status, own.body], [200, expected()])
  const enveloped = await supertest(service.url)
    .get(`/projects/${mine.id}/security`)
    .set('Cookie', cookie)
  assert.deepEqual(enveloped.body, { success: true, data: expected() })
  assert.doesNotMatch(own.text, /critical from|30 days/)
})

it('the secret key of the project sees them too, and other keys and users see nothing', async () => {
  const path = `/projects/${mine.id}/security`
  const { body } = await call('get', path)
  assert.deepEqual(body, { success: true, data: expected() })
  assert.equal((await call('get', path, other)).status, 404)
  const key = await call('get', `/users/@me/projects/${mine.id}/security`)
  assert.deepEqual([key.status, key.body.error.code], [401, 'UNAUTHORIZED'])
  const { id: stranger } = await addUser(service.core)
  const cookie = await logIn(service.core, stranger)
  for (const each of [path, `/users/@me/projects/${mine.id}/security`]) {
    const refused = await supertest(service.url).get(each).set('Cookie', cookie)
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  }
})
