import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { SecurityConfig } from '../../../../src/config/config.ts'
import { judgeReputation, rateOf } from '../../../../src/features/insight/reputation/judge.ts'
import type { ReputationWindows } from '../../../../src/features/insight/reputation/windows.ts'
import { isYoung } from '../../../../src/features/mail/messages/accept/new-project-cap.ts'
import { openTestCore, START } from '../../../core.ts'

const DAY_MS = 86_400_000
const NONE = { emails: 0, bounces: 0, complaints: 0 }
/** So many that no percentage is near. */
const MANY = 10_000_000

const windows = (change: Partial<ReputationWindows> = {}): ReputationWindows => ({
  ...{ day: NONE, week: NONE, all: NONE },
  ...change,
})

let config: SecurityConfig

before(async () => {
  const stops: (() => unknown)[] = []
  const core = await openTestCore({ after: (stop) => void stops.push(stop as () => unknown) })
  config = core.config.security
  for (const stop of stops) await stop()
})

type Case = { name: string; below: ReputationWindows; at: ReputationWindows; isNew?: boolean }

const week = (counts: Partial<ReputationWindows['week']>) =>
  windows({ week: { ...NONE, ...counts } })
const all = (counts: Partial<ReputationWindows['all']>) => windows({ all: { ...NONE, ...counts } })
const day = (counts: Partial<ReputationWindows['day']>) =>
  windows({ day: { ...NONE, emails: MANY, ...counts } })

/** Contract 10.5: each limit with its least number, and the least number where the rate is higher. */
const cases: Record<'warning' | 'critical', Case[]> = {
  warning: [
    {
      name: '5% bounces in 7 days',
      below: week({ emails: 201, bounces: 10 }),
      at: week({ emails: 200, bounces: 10 }),
    },
    {
      name: '5 bounces in 7 days',
      below: week({ emails: 100, bounces: 4 }),
      at: week({ emails: 100, bounces: 5 }),
    },
    {
      name: '100 emails in 7 days',
      below: week({ emails: 99, bounces: 9 }),
      at: week({ emails: 100, bounces: 9 }),
    },
    {
      name: '4% bounces in all',
      below: all({ emails: 251, bounces: 10 }),
      at: all({ emails: 250, bounces: 10 }),
    },
    {
      name: '5 bounces in all',
      below: all({ emails: 100, bounces: 4 }),
      at: all({ emails: 100, bounces: 5 }),
    },
    {
      name: '0.075% complaints in 7 days',
      below: week({ emails: 4_001, complaints: 3 }),
      at: week({ emails: 4_000, complaints: 3 }),
    },
    {
      name: '3 complaints in 7 days',
      below: week({ emails: 1_000, complaints: 2 }),
      at: week({ emails: 1_000, complaints: 3 }),
    },
    {
      name: '0.03% complaints in all',
      below: all({ emails: 10_001, complaints: 3 }),
      at: all({ emails: 10_000, complaints: 3 }),
    },
    { name: '50 bounces in 24 hours', below: day({ bounces: 49 }), at: day({ bounces: 50 }) },
    {
      name: '10 complaints in 24 hours',
      below: day({ complaints: 9 }),
      at: day({ complaints: 10 }),
    },
    {
      name: '200 bounces in 7 days',
      below: week({ emails: MANY, bounces: 199 }),
      at: week({ emails: MANY, bounces: 200 }),
    },
    {
      name: '30 complaints in 7 days',
      below: week({ emails: MANY, complaints: 29 }),
      at: week({ emails: MANY, complaints: 30 }),
    },
    {
      name: '10 bounces of a new project in 24 hours',
      below: day({ bounces: 9 }),
      at: day({ bounces: 10 }),
      isNew: true,
    },
    {
      name: '25 bounces of a new project in 7 days',
      below: week({ emails: MANY, bounces: 24 }),
      at: week({ emails: MANY, bounces: 25 }),
      isNew: true,
    },
    {
      name: '3 complaints of a new project in 24 hours',
      below: day({ complaints: 2 }),
      at: day({ complaints: 3 }),
      isNew: true,
    },
    {
      name: '10 complaints of a new project in 7 days',
      below: week({ emails: MANY, complaints: 9 }),
      at: week({ emails: MANY, complaints: 10 }),
      isNew: true,
    },
  ],
  critical: [
    {
      name: '10% bounces in 7 days',
      below: week({ emails: 201, bounces: 20 }),
      at: week({ emails: 200, bounces: 20 }),
    },
    {
      name: '10 bounces in 7 days',
      below: windows({ week: { emails: 90, bounces: 9, complaints: 0 } }),
      at: week({ emails: 100, bounces: 10 }),
    },
    {
      name: '8% bounces in all',
      below: all({ emails: 126, bounces: 10 }),
      at: all({ emails: 125, bounces: 10 }),
    },
    {
      name: '10 bounces in all',
      below: all({ emails: 100, bounces: 9 }),
      at: all({ emails: 100, bounces: 10 }),
    },
    {
      name: '0.15% complaints in 7 days',
      below: week({ emails: 10_001, complaints: 15 }),
      at: week({ emails: 10_000, complaints: 15 }),
    },
    {
      name: '5 complaints in 7 days',
      below: week({ emails: 1_000, complaints: 4 }),
      at: week({ emails: 1_000, complaints: 5 }),
    },
    {
      name: '0.12% complaints in all',
      below: all({ emails: 10_001, complaints: 12 }),
      at: all({ emails: 10_000, complaints: 12 }),
    },
    { name: '100 bounces in 24 hours', below: day({ bounces: 99 }), at: day({ bounces: 100 }) },
    {
      name: '25 complaints in 24 hours',
      below: day({ complaints: 24 }),
      at: day({ complaints: 25 }),
    },
    {
      name: '500 bounces in 7 days',
      below: week({ emails: MANY, bounces: 499 }),
      at: week({ emails: MANY, bounces: 500 }),
    },
    {
      name: '75 complaints in 7 days',
      below: week({ emails: MANY, complaints: 74 }),
      at: week({ emails: MANY, complaints: 75 }),
    },
    {
      name: '25 bounces of a new project in 24 hours',
      below: day({ bounces: 24 }),
      at: day({ bounces: 25 }),
      isNew: true,
    },
    {
      name: '50 bounces of a new project in 7 days',
      below: week({ emails: MANY, bounces: 49 }),
      at: week({ emails: MANY, bounces: 50 }),
      isNew: true,
    },
    {
      name: '7 complaints of a new project in 24 hours',
      below: day({ complaints: 6 }),
      at: day({ complaints: 7 }),
      isNew: true,
    },
    {
      name: '20 complaints of a new project in 7 days',
      below: week({ emails: MANY, complaints: 19 }),
      at: week({ emails: MANY, complaints: 20 }),
      isNew: true,
    },
  ],
}

for (const level of ['warning', 'critical'] as const) {
  for (const { name, below, at, isNew = false } of cases[level]) {
    test(`S27: ${name} are ${level}, and no fewer`, () => {
      const levelsOf = (given: ReputationWindows) =>
        judgeReputation(config, given, { isNew }).findings.map((finding) => finding.level)
      assert.ok(
        !levelsOf(below).includes(level),
        JSON.stringify(judgeReputation(config, below, { isNew })),
      )
      assert.ok(
        levelsOf(at).includes(level),
        JSON.stringify(judgeReputation(config, at, { isNew })),
      )
      if (level === 'warning') assert.ok(!levelsOf(at).includes('critical'))
    })
  }
}

test('the limits of new projects do not apply to older ones', () => {
  const given = day({ bounces: 25, complaints: 7 })
  assert.deepEqual(judgeReputation(config, given, { isNew: false }).findings, [])
  const levels = judgeReputation(config, given, { isNew: true }).findings.map(({ level }) => level)
  assert.deepEqual(levels, ['critical', 'critical'])
  assert.equal(isYoung({ createdAt: START }, START + 30 * DAY_MS - 1), true)
  assert.equal(isYoung({ createdAt: START }, START + 30 * DAY_MS), false)
})

test('the levels say the rates alone, whatever the numbers', () => {
  const { findings, levels } = judgeReputation(config, week({ emails: 1, bounces: 1 }), {
    isNew: false,
  })
  assert.deepEqual(findings, [])
  assert.deepEqual(levels, {
    bounce7Day: 'critical',
    bounceAllTime: 'healthy',
    complaint7Day: 'healthy',
    complaintAllTime: 'healthy',
  })
})

test('a limit of 0 is never reached', () => {
  const never = { warning: 0, critical: 0 }
  const none = {
    ...config,
    percent: { bounce: { week: never, all: never }, complaint: { week: never, all: never } },
    counts: { bounce: { day: never, week: never }, complaint: { day: never, week: never } },
  }
  const worst = { emails: 1_000, bounces: 1_000, complaints: 1_000 }
  const given = { day: worst, week: worst, all: worst }
  const judged = judgeReputation({ ...none, youngCounts: none.counts }, given, { isNew: true })
  assert.deepEqual(judged.findings, [])
  assert.deepEqual([...new Set(Object.values(judged.levels))], ['healthy'])
})

test('a text names the value, the limit and the window', () => {
  const given = windows({
    day: { emails: 400, bounces: 50, complaints: 0 },
    week: { emails: 400, bounces: 50, complaints: 0 },
  })
  assert.deepEqual(
    judgeReputation(config, given, { isNew: false }).findings.map(({ text }) => text),
    [
      '7-day bounce rate of 12.5% (critical from 10% and 10 bounces)',
      '50 bounces in 24 hours (warning from 50)',
    ],
  )
  assert.equal(rateOf({ emails: 3, bounces: 1, complaints: 0 }, 'bounce'), 33.3333)
  assert.equal(rateOf(NONE, 'bounce'), 0)
})
