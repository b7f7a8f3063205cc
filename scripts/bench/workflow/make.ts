/** Makes the workflows of the benchmarks through the API, and enables them. */
import type { Api } from '../api.ts'

export type Made = { id: string; stepIds: Record<string, string> }

/** Started by the event `signup`: two conditions, an update, an email, an exit. */
export async function makeFiveSteps(api: Api): Promise<Made> {
  const template = (await api.ask('POST', '/templates', {
    name: 'Welcome',
    subject: 'Hello {{ name }}',
    body: '<p>Hello {{ name }}, you chose {{ event.plan }}.</p>',
    from: 'shop@example.test',
    type: 'TRANSACTIONAL',
  })) as { id: string }
  return makeWorkflow(api, 'Five steps', 'signup', {
    steps: {
      first: {
        type: 'CONDITION',
        config: { field: 'event.plan', operator: 'equals', value: 'pro' },
      },
      second: {
        type: 'CONDITION',
        config: { field: 'data.seats', operator: 'greaterThan', value: 3 },
      },
      mark: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'welcomed' } } },
      mail: { type: 'SEND_EMAIL', templateId: template.id, config: {} },
      out: { type: 'EXIT', config: { reason: 'done' } },
    },
    transitions: [
      ['trigger', 'first'],
      ['first', 'second', 'yes'],
      ['second', 'mark', 'yes'],
      ['mark', 'mail'],
      ['mail', 'out'],
    ],
  })
}

export async function makeWorkflow(
  api: Api,
  name: string,
  eventName: string,
  graph: {
    steps: Record<string, { type: string; config: object; templateId?: string }>
    transitions: [string, string, string?][]
  },
): Promise<Made> {
  const { id, steps } = (await api.ask('POST', '/workflows', { name, eventName })) as {
    id: string
    steps: { id: string; config: object; name: string }[]
  }
  const [trigger] = steps
  if (trigger === undefined) throw new Error('the workflow has no trigger')
  const stepIds: Record<string, string> = { trigger: trigger.id }
  for (const key of Object.keys(graph.steps)) stepIds[key] = crypto.randomUUID()
  await api.ask('PUT', `/workflows/${id}/graph`, {
    steps: [
      { id: trigger.id, type: 'TRIGGER', name: trigger.name, config: trigger.config },
      ...Object.entries(graph.steps).map(([key, step]) => ({
        id: stepIds[key],
        name: key,
        ...step,
      })),
    ],
    transitions: graph.transitions.map(([from, to, branch]) => ({
      fromStepId: stepIds[from],
      toStepId: stepIds[to],
      ...(branch === undefined ? {} : { condition: { branch } }),
    })),
  })
  await api.ask('PATCH', `/workflows/${id}`, { enabled: true })
  return { id, stepIds }
}
