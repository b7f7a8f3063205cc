/**
 * Executions of a workflow with every type of step, while the server is killed with -9 at random
 * moments. In the end each contact has one execution with its end, one email and one webhook id, and
 * every count equals a recount of the rows.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { eventually } from '../program.ts'
import { installBesideSink, makeProject, type Serving } from '../server.ts'

type Options = {
  executions: number
  kills: number
  /** The longest time from a start to a kill. */
  runMs: number
}

type Call = (
  method: string,
  route: string,
  body?: object,
) => Promise<{ status: number; body: never }>

const PLANS = [{ id: 'pro', name: 'Pro', operator: 'equals', value: 'pro' }]

const STEPS = [
  ['plan', 'CONDITION', { mode: 'multi', field: 'data.plan', branches: PLANS }],
  ['mark', 'UPDATE_CONTACT', { updates: { stage: 'welcomed' }, subscriptionAction: 'subscribe' }],
  ['mail', 'SEND_EMAIL', {}],
  ['wait', 'WAIT_FOR_EVENT', { eventName: 'email.delivered', timeout: 3, stepId: 'mail' }],
  ['hook', 'WEBHOOK', { url: '', method: 'POST', body: { who: '{{ email }}' } }],
  ['nap', 'DELAY', { amount: 0.005, unit: 'minutes' }],
  ['out', 'EXIT', { reason: 'done' }],
] as const

const TRANSITIONS: readonly [string, string, object?][] = [
  ['trigger', 'plan'],
  ['plan', 'mark', { condition: { branch: 'pro' } }],
  ['plan', 'mail', { condition: { branch: 'default' } }],
  ['mark', 'mail'],
  ['mail', 'wait'],
  ['wait', 'hook', { waitOutcome: 'EVENT' }],
  ['wait', 'nap', { waitOutcome: 'TIMEOUT' }],
  ['hook', 'nap'],
  ['nap', 'out'],
]

export async function crashWorkflow(t: TestContext, { executions, kills, runMs }: Options) {
  const webhooks: { id: string; who: string }[] = []
  const receiver = await startReceiver(t, (id, body) => webhooks.push({ id, who: body.who ?? '' }))
  const { installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    configuration: '[webhooks]\nallow_private_networks = true\n',
  })
  const { secret } = await makeProject(installation)
  let server: Serving = await installation.serve()
  const call: Call = async (method, route, body) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(server.url + route, { method, headers, ...init })
    return { status: response.status, body: (await response.json()) as never }
  }
  const workflowId = await makeWorkflow(call, receiver.url)
  let tracked = 0
  const tracking = (async () => {
    while (tracked < executions) {
      const data = { plan: tracked % 2 === 0 ? 'pro' : 'free' }
      const event = { event: 'signup', email: `p${tracked}@dest.test`, data }
      const answer = await call('POST', '/v1/track', event).catch(() => undefined)
      if (answer?.status === 200) tracked += 1
      else await sleep(20)
    }
  })()
  for (let round = 0; round < kills; round += 1) {
    await sleep(50 + Math.random() * runMs)
    await server.kill('SIGKILL')
    server = await installation.serve()
  }
  await tracking
  const file = path.join(installation.folder, 'data/pillarbox.db')
  await untilEnded(file, executions)
  await server.kill('SIGTERM')
  check(file, { workflowId, executions, webhooks })
  return { webhooks: webhooks.length }
}

async function makeWorkflow(call: Call, url: string): Promise<string> {
  const template = { name: 'T', subject: 'Hello', body: '<p>Hello {{ event.plan }}</p>' }
  const from = { from: 'news@example.test', type: 'TRANSACTIONAL' }
  const { body: made } = await call('POST', '/templates', { ...template, ...from })
  const { body: workflow } = await call('POST', '/workflows', { name: 'W', eventName: 'signup' })
  const { id, steps } = workflow as {
    id: string
    steps: { id: string; name: string; config: object }[]
  }
  const ids = new Map(STEPS.map(([name]) => [name as string, crypto.randomUUID() as string]))
  ids.set('trigger', steps[0]?.id ?? '')
  const { status, body } = await call('PUT', `/workflows/${id}/graph`, {
    steps: [
      { id: ids.get('trigger'), type: 'TRIGGER', name: 'signup', config: { eventName: 'signup' } },
      ...STEPS.map(([name, type, config]) => ({
        id: ids.get(name),
        name,
        type,
        config: {
          ...config,
          ...('stepId' in config ? { stepId: ids.get('mail') } : {}),
          ...('url' in config ? { url } : {}),
        },
        ...(type === 'SEND_EMAIL' ? { templateId: Object(made).id } : {}),
      })),
    ],
    transitions: TRANSITIONS.map(([from, to, rest]) => ({
      fromStepId: ids.get(from),
      toStepId: ids.get(to),
      ...rest,
    })),
  })
  assert.equal(status, 200, JSON.stringify(body))
  const enabled = await call('PATCH', `/workflows/${id}`, { enabled: true })
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  return id
}

async function startReceiver(
  t: TestContext,
  onWebhook: (id: string, body: { who?: string }) => void,
): Promise<{ url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      onWebhook(String(request.headers['webhook-id']), JSON.parse(Buffer.concat(chunks).toString()))
      response.end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

const ACTIVE = "status IN ('RUNNING', 'WAITING')"

/** Each progress has the deadline to itself: the machine may be slow. */
async function untilEnded(file: string, executions: number): Promise<void> {
  const count = () =>
    read<{ ended: number }>(
      file,
      `SELECT count(*) AS ended FROM workflow_executions WHERE NOT ${ACTIVE}`,
    )[0]?.ended ?? 0
  for (let reached = -1; reached < executions; ) {
    reached = await eventually(async () => {
      const ended = count()
      return ended > reached || ended === executions ? ended : undefined
    })
  }
}

function read<Row>(file: string, sql: string): Row[] {
  const db = new Database(file, { readonly: true, timeout: 10_000 })
  try {
    return db.prepare(sql).all() as Row[]
  } finally {
    db.close()
  }
}

function check(
  file: string,
  {
    workflowId,
    executions,
    webhooks,
  }: { workflowId: string; executions: number; webhooks: readonly { id: string; who: string }[] },
): void {
  const rows = read<{ email: string; status: string; executions: number; emails: number }>(
    file,
    `SELECT contacts.email, min(status) AS status, count(*) AS executions,
      (SELECT count(*) FROM emails WHERE contact_id = contacts.id) AS emails
    FROM contacts JOIN workflow_executions ON contact_id = contacts.id GROUP BY contacts.id`,
  )
  assert.equal(rows.length, executions)
  for (const { email, ...counts } of rows) {
    assert.deepEqual(counts, { status: 'EXITED', executions: 1, emails: 1 }, email)
  }
  const counted = read<{ started: number; completed: number }>(
    file,
    `SELECT (SELECT count(*) FROM events WHERE name = 'workflow.started') AS started,
      (SELECT count(*) FROM events WHERE name = 'workflow.completed') AS completed`,
  )
  assert.deepEqual(counted, [{ started: executions, completed: executions }])
  assert.deepEqual(
    read(
      file,
      `SELECT subject, figure, count FROM workflow_figures WHERE workflow_id = '${workflowId}'
      AND figure = 'completed' ORDER BY 1`,
    ),
    read(
      file,
      `SELECT step_id AS subject, 'completed' AS figure, count(*) AS count
      FROM workflow_step_executions WHERE status = 'COMPLETED' GROUP BY 1 ORDER BY 1`,
    ),
  )
  const [taken] = read<{ count: number }>(
    file,
    `SELECT sum(count) AS count FROM workflow_figures WHERE figure = 'taken'`,
  )
  const [steps] = read<{ count: number }>(
    file,
    'SELECT count(*) AS count FROM workflow_step_executions',
  )
  assert.equal(taken?.count, (steps?.count ?? 0) - executions, 'each step but the first was led to')
  const hooked = read<{ id: string; email: string }>(
    file,
    `SELECT step.id, contacts.email FROM workflow_step_executions AS step
      JOIN workflow_steps ON workflow_steps.id = step_id AND type = 'WEBHOOK'
      JOIN workflow_executions AS execution ON execution.number = execution_number
      JOIN contacts ON contacts.id = execution.contact_id WHERE step.status = 'COMPLETED'`,
  )
  const byContact = Map.groupBy(webhooks, ({ who }) => who)
  for (const { id, email } of hooked) {
    const ids = new Set(byContact.get(email)?.map((each) => each.id))
    assert.deepEqual([...ids], [id], `${email} has one webhook id`)
  }
  assert.deepEqual(read(file, 'SELECT * FROM workflow_waits'), [])
  assert.deepEqual(read(file, 'SELECT * FROM workflow_requests'), [])
}
