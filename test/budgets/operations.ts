/** What is measured: each operation so many times, in groups that do not depend on the machine. */
import { createKeyring } from '../../src/config/keyring.ts'
import { linkNumber } from '../../src/formats/html/links.ts'
import { createClickToken, createOpenToken } from '../../src/formats/signed-tokens.ts'
import { type Request, SECRET, type Server } from './server.ts'

export type Operation = {
  name: string
  /** How often `run` does it. */
  count: number
  /** Before the window. */
  prepare?(server: Server): Promise<void>
  /** In the window; runs once before it with other addresses, so that caches and statements are there. */
  run(server: Server, turn: 'warm' | 'counted'): Promise<void>
}

const GROUP = 25
const GROUPS = 4
const COUNT = GROUP * GROUPS
const LINK = 'https://shop.example/offer'
const BODY = `<p>Dear {{ name }}, your order has left our house.</p><p><a href="${LINK}">See it</a></p>`
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

const keyring = createKeyring(SECRET)

export const operations: Operation[] = [
  {
    name: 'nothing, 8 seconds',
    count: 1,
    run: (server) => server.advance(8_000),
  },
  {
    name: 'send',
    count: COUNT,
    run: (server, turn) =>
      inGroups(server, (index) => send(server, { to: `${turn}.${index}@held.test` })),
  },
  {
    name: 'send of 100 recipients',
    count: GROUPS,
    run: (server, turn) =>
      inGroups(
        server,
        (index) => {
          const to = Array.from({ length: 100 }, (_, at) => `${turn}.${index}.${at}@held.test`)
          return send(server, { to })
        },
        1,
      ),
  },
  {
    name: 'track',
    count: COUNT,
    run: (server, turn) => track(server, 'shop', 'visit', turn),
  },
  delivering('delivery', 'live.test'),
  delivering('bounce', 'gone.test'),
  hits('open', ({ id }) => `/t/o/${createOpenToken(keyring.keys('open')[0], id)}`),
  hits('click', ({ id }) => {
    const link = linkNumber(LINK)
    return `/t/c/${createClickToken(keyring.keys('click')[0], { emailId: id, link })}`
  }),
  campaign(),
  workflow(),
  {
    name: 'contact upsert',
    count: COUNT,
    run: (server, turn) =>
      inGroups(server, (index) => upsert(server, 'shop', `upsert.${turn}.${index}@held.test`)),
  },
  {
    name: 'import row',
    count: 500,
    async run(server, turn) {
      const rows = Array.from(
        { length: 500 },
        (_, at) => `import.${turn}.${at}@held.test,P${at},pro`,
      )
      await server.together([upload(server, `email,name,plan\n${rows.join('\n')}\n`)])
      await server.advance(8_000)
    },
  },
  {
    name: 'webhook delivery, with its track',
    count: COUNT,
    async run(server, turn) {
      const body = { url: server.hookUrl, events: ['order'] }
      if (turn === 'warm') {
        await server.together([{ path: '/webhooks/endpoints', ...by(server, 'hook'), body }])
      }
      const before = server.hooked()
      await track(server, 'hook', 'order', turn)
      if (server.hooked() - before !== COUNT) throw new Error(`${server.hooked()} webhooks`)
    },
  },
]

type Project = keyof Server['projects']

const by = (server: Server, project: Project) => ({ secret: server.projects[project].secret })

/** `size`: of a group. */
async function inGroups(
  server: Server,
  make: (index: number) => Request,
  size = GROUP,
): Promise<void> {
  for (let group = 0; group < GROUPS; group += 1) {
    await server.together(Array.from({ length: size }, (_, at) => make(group * size + at)))
  }
}

function send(server: Server, change: { to: string | string[] }): Request {
  const body = { from: 'shop@shop.test', subject: 'Your order', body: BODY, ...change }
  return { path: '/v1/send', ...by(server, 'shop'), body }
}

function track(server: Server, project: Project, event: string, turn: string): Promise<void> {
  return inGroups(server, (index) => {
    const email = `${event}.${turn}.${index}@held.test`
    const data = { name: 'Ada', seats: 5, plan: { value: 'pro', persistent: false } }
    return { path: '/v1/track', ...by(server, project), body: { event, email, data } }
  })
}

function upsert(server: Server, project: Project, email: string): Request {
  return { path: '/contacts', ...by(server, project), body: { email, data: { name: 'Ada' } } }
}

function upload(server: Server, csv: string): Request {
  const boundary = 'the-boundary-of-the-budgets'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\nContent-Type: text/csv\r\n\r\n`
  return {
    path: '/contacts/import',
    ...by(server, 'shop'),
    body: Buffer.from(`${head}${csv}\r\n--${boundary}--\r\n`),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

/** All are accepted before, held, and due at one instant of the window. */
function delivering(name: string, domain: string): Operation {
  const accept = async (server: Server, turn: string): Promise<void> => {
    server.change(`INSERT INTO holds VALUES ('${domain}', 1)`)
    await server.advance(1_000)
    await inGroups(server, (index) => send(server, { to: `${name}.${turn}.${index}@${domain}` }))
    const at = (await server.nextWindow()) + 500
    server.change(`DELETE FROM holds WHERE domain = '${domain}';
      UPDATE emails SET state = 'queued', shelf = NULL, due_at = ${at}, held_at = NULL WHERE state = 'held'
        AND recipient_domain = '${domain}'`)
  }
  return {
    name,
    count: COUNT,
    prepare: (server) => accept(server, 'counted'),
    async run(server, turn) {
      if (turn === 'warm') {
        await accept(server, 'warm')
        await server.advance(125_000)
      } else await server.advance(8_000)
    },
  }
}

function hits(name: string, pathOf: (email: { id: string }) => string): Operation {
  return {
    name,
    count: COUNT,
    async run(server, turn) {
      const emails = await server.query(
        `SELECT id FROM emails WHERE recipient LIKE 'delivery.${turn}.%' ORDER BY id`,
      )
      await inGroups(server, (index) => {
        const id = String(emails[index]?.id)
        return { path: pathOf({ id }), headers: { 'user-agent': AGENT, accept: 'text/html' } }
      })
    },
  }
}

function campaign(): Operation {
  return {
    name: 'campaign recipient',
    count: COUNT,
    async run(server, turn) {
      const project = by(server, 'list')
      if (turn === 'warm') {
        await inGroups(server, (index) => upsert(server, 'list', `reader.${index}@live.test`))
      }
      const body = { name: turn, subject: 'News', body: BODY, from: 'news@list.test' }
      const [made] = await server.together([
        { path: '/campaigns', ...project, body: { ...body, audienceType: 'ALL' } },
      ])
      const { data } = JSON.parse(made?.body ?? '') as { data: { id: string } }
      await server.together([{ path: `/campaigns/${data.id}/send`, ...project, body: {} }])
      await server.advance(8_000)
    },
  }
}

/** Trigger, two conditions, an update, an email that is held, and the end, as in `bench:workflow`. */
function workflow(): Operation {
  return {
    name: 'workflow execution of five steps, with its track',
    count: COUNT,
    async run(server, turn) {
      if (turn === 'warm') await makeWorkflow(server)
      await track(server, 'flow', 'signup', turn)
    },
  }
}

async function makeWorkflow(server: Server): Promise<void> {
  const project = by(server, 'flow')
  const ask = async (request: Request) => {
    const [answer] = await server.together([{ ...project, ...request }])
    return JSON.parse(answer?.body ?? '') as {
      id: string
      steps: { id: string; config: object; name: string }[]
    }
  }
  const template = await ask({
    path: '/templates',
    body: {
      ...{ name: 'Welcome', subject: 'Hello', body: BODY, from: 'shop@flow.test' },
      type: 'TRANSACTIONAL',
    },
  })
  const { id, steps } = await ask({
    path: '/workflows',
    body: { name: 'Five', eventName: 'signup' },
  })
  const [trigger] = steps
  const stepId = (index: number) => `01900000-0000-7000-8000-00000000000${index}`
  const condition = (config: object) => ({ type: 'CONDITION', config })
  const others = [
    condition({ field: 'event.plan', operator: 'equals', value: 'pro' }),
    condition({ field: 'data.seats', operator: 'greaterThan', value: 3 }),
    { type: 'UPDATE_CONTACT', config: { updates: { stage: 'welcomed' } } },
    { type: 'SEND_EMAIL', templateId: template.id, config: {} },
    { type: 'EXIT', config: { reason: 'done' } },
  ]
  const ids = [trigger?.id, ...others.map((_, index) => stepId(index))]
  await ask({
    method: 'PUT',
    path: `/workflows/${id}/graph`,
    body: {
      steps: [
        { ...trigger, type: 'TRIGGER' },
        ...others.map((step, index) => ({ id: stepId(index), name: `step ${index}`, ...step })),
      ].map(({ id: step, name, type, config, ...rest }: Record<string, unknown>) => ({
        ...{ id: step, name, type, config },
        ...('templateId' in rest && rest.templateId !== null && { templateId: rest.templateId }),
      })),
      transitions: others.map((_, index) => ({
        ...{ fromStepId: ids[index], toStepId: ids[index + 1] },
        ...((index === 1 || index === 2) && { condition: { branch: 'yes' } }),
      })),
    },
  })
  await ask({ method: 'PATCH', path: `/workflows/${id}`, body: { enabled: true } })
}
