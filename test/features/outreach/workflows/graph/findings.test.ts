import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFindings } from '../../../../../src/features/outreach/workflows/graph/findings.ts'
import type { TypedStep } from '../../../../../src/features/outreach/workflows/graph/step-config.ts'
import type { Edge } from '../../../../../src/features/outreach/workflows/graph/structure.ts'

const trigger: TypedStep = { id: 't', type: 'TRIGGER', name: 't', config: {}, templateId: null }

/** A chain of emails, then one of waits; each wait names an email, the last of them an unknown one. */
function chainOf(count: number): TypedStep[] {
  const emails = Array.from({ length: count }, (_, index): TypedStep => {
    return { id: `e${index}`, type: 'SEND_EMAIL', name: 'e', config: {}, templateId: 'known' }
  })
  const waits = Array.from({ length: count }, (_, index): TypedStep => {
    const stepId = index === count - 1 ? 'w0' : `e${index}`
    const config = { eventName: 'email.open', stepId, timeout: 60 }
    return { id: `w${index}`, type: 'WAIT_FOR_EVENT', name: 'w', config, templateId: null }
  })
  return [trigger, ...emails, ...waits]
}

/** Counts how often the list is read as a whole. */
function countReadings(steps: readonly TypedStep[]) {
  let readings = 0
  const rows = steps.slice(1).map(({ id }, index): Edge => {
    return { fromStepId: steps[index]?.id ?? '', toStepId: id, condition: null, waitOutcome: null }
  })
  const edges = new Proxy(rows, {
    get(list, name) {
      const value: unknown = Reflect.get(list, name)
      if (typeof value === 'function') readings += 1
      return value
    },
  })
  const findings = findFindings({
    workflow: { triggerType: 'EVENT', triggerEvent: 'signup' },
    ...{ steps, edges, templates: new Map([['known', { fromDomain: 'a.test' }]]) },
    ...{ campaigns: new Set<string>(), verifiedDomains: new Set(['a.test']) },
    ...{ silentEvents: new Map(), hasSegment: true, cycles: [] },
  })
  return { readings, findings }
}

test('the transitions are read as often for many steps as for few', () => {
  const [few, many] = [countReadings(chainOf(2)), countReadings(chainOf(40))]
  assert.ok(few.readings > 0)
  assert.equal(many.readings, few.readings)
  for (const { findings } of [few, many]) {
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['unknown_email_step', 'timeout_without_transition'],
    )
  }
})

test('of the emails before a step, the first ten are listed', () => {
  const { findings } = countReadings(chainOf(12))
  const fix = findings[0]?.fix ?? ''
  assert.match(fix, /such as e0 \("e"\), .*e9 \("e"\), or remove stepId\.$/)
  assert.doesNotMatch(fix, /e10/)
})
