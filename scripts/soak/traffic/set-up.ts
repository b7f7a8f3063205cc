/**
 * Prepares an installation before its traffic: two projects, a trusted domain each, a template, the
 * workflow and the endpoint that the ledger watches.
 */
import { createApi } from '../client/api.ts'
import type { History } from '../history/history.ts'
import type { Server } from '../server/server.ts'
import type { HookReceiver } from '../world/hook-receiver.ts'
import { WORKFLOW_EVENT } from './track.ts'
import type { Project } from './traffic.ts'

type Deps = { server: Server; url: string; history: History }

const STEPS = {
  mail: { type: 'SEND_EMAIL', config: {} },
  wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'email.delivered', timeout: 5 } },
  hook: { type: 'WEBHOOK', config: { method: 'POST', body: { who: '{{ email }}' } } },
  nap: { type: 'DELAY', config: { amount: 0.02, unit: 'minutes' } },
  mark: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'welcomed' } } },
  out: { type: 'EXIT', config: { reason: 'done' } },
} as const

const TRANSITIONS: readonly [string, string, object?][] = [
  ['trigger', 'mail'],
  ['mail', 'wait'],
  ['wait', 'hook', { waitOutcome: 'EVENT' }],
  ['wait', 'nap', { waitOutcome: 'TIMEOUT' }],
  ['hook', 'nap'],
  ['nap', 'mark'],
  ['mark', 'out'],
]

/** Before the server starts. */
export async function makeProjects(deps: Deps): Promise<{ main: Project; erasures: Project }> {
  await runJson(deps.server, 'user', 'create', '--email', 'owner@example.test')
  const main = await makeProject(deps, 'Main', 'example.test')
  const erasures = await makeProject(deps, 'Erasures', 'erasures.test')
  return { main, erasures }
}

async function makeProject(
  { server, url, history }: Deps,
  name: string,
  domain: string,
): Promise<Project> {
  const owner = ['--owner', 'owner@example.test']
  const made = await runJson(server, 'project', 'create', '--name', name, ...owner)
  const { id, secret } = made as { id: string; secret: string }
  await runJson(server, 'domain', 'add', '--project', id, domain)
  await runJson(server, 'domain', 'verify', domain, '--trust')
  return { id, secret, api: createApi({ url, secret, history }) }
}

/** While the server runs and nothing disturbs it. Returns the ids of the template and the workflow. */
export async function makeContents(
  { api }: Project,
  hooks: HookReceiver,
): Promise<{ templateId: string; workflowId: string }> {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await api.ask({ method, path, ...(body === undefined ? {} : { body }) })
    if (answer.outcome === 'acknowledged') return answer.body as T
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const makeTemplate = (name: string, subject: string) =>
    ask<{ id: string }>('POST', '/templates', {
      ...{ name, subject, body: '<p>Hello {{ email }}</p>' },
      ...{ from: 'shop@example.test', type: 'TRANSACTIONAL' },
    })
  const { id: templateId } = await makeTemplate('Numbered', 'Soak {{ number }}')
  const { id: welcomeId } = await makeTemplate('Welcome', 'Welcome')
  const endpoint = { url: `${hooks.url}/events`, events: ['*'], description: 'watched' }
  const { secret } = await ask<{ secret: string }>('POST', '/webhooks/endpoints', endpoint)
  hooks.trust('/events', secret)
  const signing = await ask<{ secret: string }>('GET', '/webhooks/signing-secret')
  hooks.trust('/step', signing.secret)
  const { id: workflowId, steps } = await ask<{
    id: string
    steps: { id: string; name: string; config: object }[]
  }>('POST', '/workflows', { name: 'Welcome', eventName: WORKFLOW_EVENT })
  const trigger = { type: 'TRIGGER', ...steps[0] }
  const graph = makeGraph(trigger, { welcomeId, stepUrl: `${hooks.url}/step` })
  await ask('PUT', `/workflows/${workflowId}/graph`, graph)
  await ask('PATCH', `/workflows/${workflowId}`, { enabled: true })
  return { templateId, workflowId }
}

function makeGraph(
  trigger: { id?: string; name?: string; config?: object },
  { welcomeId, stepUrl }: { welcomeId: string; stepUrl: string },
) {
  const ids: Record<string, string> = { trigger: trigger.id ?? '' }
  for (const name of Object.keys(STEPS)) ids[name] = crypto.randomUUID()
  const more: Record<string, object> = {
    wait: { stepId: ids.mail },
    hook: { url: stepUrl },
  }
  const { id, name, config } = trigger
  return {
    steps: [
      { id, name, config, type: 'TRIGGER' },
      ...Object.entries(STEPS).map(([name, step]) => ({
        ...{ id: ids[name], name, type: step.type, config: { ...step.config, ...more[name] } },
        ...(step.type === 'SEND_EMAIL' ? { templateId: welcomeId } : {}),
      })),
    ],
    transitions: TRANSITIONS.map(([from, to, rest]) => {
      return { fromStepId: ids[from], toStepId: ids[to], ...rest }
    }),
  }
}

async function runJson(server: Server, ...argv: string[]): Promise<unknown> {
  const { status, stdout, stderr } = await server.command(...argv, '--json')
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}
