/** Prometheus' own tool reads the metrics of a running server and the alert rules of the guide. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readPages } from '../../docs/pages.ts'
import { install } from '../../e2e/server.ts'

const isInstalled = spawnSync('promtool', ['--version']).status === 0
const skip = !isInstalled && 'promtool not installed (Debian: prometheus)'

/** Metrics of what need not be there: a certificate, a backup, a run of the checks. */
const LATER: ReadonlySet<string> = new Set([
  'pillarbox_certificate_expiry_timestamp_seconds',
  'pillarbox_last_backup_timestamp_seconds',
  'pillarbox_check_status',
])

function promtool(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

function readRules(): string {
  const page = readPages().find(({ file }) => file.endsWith('monitoring.md'))
  const block = page?.blocks.find(({ text }) => text.startsWith('groups:'))
  assert.ok(block)
  return block.text
}

function writeRules(t: TestContext): { folder: string; names: string[] } {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-rules-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const rules = readRules()
  writeFileSync(path.join(folder, 'rules.yml'), rules)
  return { folder, names: [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name) }
}

/** For each rule: series under which it fires within two hours, and series under which it does not. */
type Scenario = { fires: Record<string, string>; rests: Record<string, string>; labels?: object }

const rising = (step: number) => `0+${step}x150`
const constant = (value: number) => `${value}x150`

const SCENARIOS: Record<string, Scenario> = {
  PillarboxDown: {
    fires: { 'up{job="pillarbox"}': constant(0) },
    rests: { 'up{job="pillarbox"}': constant(1) },
    labels: { job: 'pillarbox' },
  },
  PillarboxDatabaseNotWritable: {
    fires: { pillarbox_database_writable: constant(0) },
    rests: { pillarbox_database_writable: constant(1) },
  },
  PillarboxDiskNearlyFull: {
    fires: {
      pillarbox_disk_free_bytes: constant(500),
      pillarbox_disk_total_bytes: constant(1000),
      pillarbox_disk_free_inodes: constant(99),
      pillarbox_disk_total_inodes: constant(1000),
    },
    rests: {
      pillarbox_disk_free_bytes: constant(101),
      pillarbox_disk_total_bytes: constant(1000),
      pillarbox_disk_free_inodes: constant(101),
      pillarbox_disk_total_inodes: constant(1000),
    },
  },
  PillarboxMailWaits: {
    fires: { 'pillarbox_queue_oldest_due_seconds{class="transactional"}': constant(301) },
    rests: {
      'pillarbox_queue_oldest_due_seconds{class="transactional"}': constant(299),
      'pillarbox_queue_oldest_due_seconds{class="campaign"}': constant(9_000),
    },
    labels: { class: 'transactional' },
  },
  PillarboxManyBounces: {
    fires: {
      'pillarbox_bounces_total{source="session",type="hard"}': rising(6),
      'pillarbox_attempts_total{class="campaign",outcome="bounced"}': rising(100),
    },
    rests: {
      'pillarbox_bounces_total{source="session",type="hard"}': rising(4),
      'pillarbox_bounces_total{source="session",type="soft"}': rising(50),
      'pillarbox_attempts_total{class="campaign",outcome="bounced"}': rising(100),
    },
  },
  PillarboxManyDeferrals: {
    fires: {
      'pillarbox_attempts_total{class="campaign",outcome="deferred"}': rising(51),
      'pillarbox_attempts_total{class="campaign",outcome="delivered"}': rising(49),
    },
    rests: {
      'pillarbox_attempts_total{class="campaign",outcome="deferred"}': rising(49),
      'pillarbox_attempts_total{class="campaign",outcome="delivered"}': rising(51),
    },
  },
  PillarboxBlocked: {
    fires: { 'pillarbox_email_deferrals_total{class="block"}': rising(1) },
    rests: {
      'pillarbox_email_deferrals_total{class="block"}': constant(7),
      'pillarbox_email_deferrals_total{class="greylist"}': rising(9),
    },
    labels: { class: 'block' },
  },
  PillarboxSuppressionsHeld: {
    fires: { 'pillarbox_suppressions_held_total{cause="fuse"}': rising(1) },
    rests: { 'pillarbox_suppressions_held_total{cause="domain"}': rising(1) },
    labels: { cause: 'fuse' },
  },
  PillarboxRequestsFail: {
    fires: { 'pillarbox_http_responses_total{status="503"}': rising(7) },
    rests: {
      'pillarbox_http_responses_total{status="500"}': rising(5),
      'pillarbox_http_responses_total{status="422"}': rising(900),
    },
  },
  PillarboxSlowCommits: {
    fires: buckets({ '0.25': 98, '5': 100, '+Inf': 100 }),
    rests: buckets({ '0.25': 100, '5': 100, '+Inf': 100 }),
  },
  PillarboxBusy: {
    fires: { pillarbox_event_loop_delay_p99_seconds: constant(0.3) },
    rests: { pillarbox_event_loop_delay_p99_seconds: constant(0.2) },
  },
  PillarboxThreadsLost: {
    fires: { 'pillarbox_threads_lost_total{kind="delivery"}': rising(1) },
    rests: { 'pillarbox_threads_lost_total{kind="delivery"}': constant(9) },
  },
  PillarboxInboundWaits: {
    fires: { pillarbox_inbound_oldest_waiting_seconds: constant(901) },
    rests: { pillarbox_inbound_oldest_waiting_seconds: constant(899) },
  },
  PillarboxJobsFail: {
    fires: { 'pillarbox_job_failures_total{kind="import"}': rising(1) },
    rests: { 'pillarbox_job_failures_total{kind="import"}': constant(9) },
    labels: { kind: 'import' },
  },
  PillarboxFollowerBehind: {
    fires: { 'pillarbox_follower_lag_events{follower="webhooks"}': constant(10_001) },
    rests: { 'pillarbox_follower_lag_events{follower="webhooks"}': constant(10_000) },
    labels: { follower: 'webhooks' },
  },
  PillarboxWebhooksWait: {
    fires: { 'pillarbox_webhook_deliveries{state="due"}': constant(1_001) },
    rests: { 'pillarbox_webhook_deliveries{state="delayed"}': constant(9_000) },
    labels: { state: 'due' },
  },
  PillarboxEmailsNotCharged: {
    fires: { pillarbox_emails_not_charged_total: rising(1) },
    rests: { pillarbox_emails_not_charged_total: constant(9) },
  },
  PillarboxCertificateExpires: {
    fires: { 'pillarbox_certificate_expiry_timestamp_seconds{listener="http"}': constant(604_800) },
    rests: {
      'pillarbox_certificate_expiry_timestamp_seconds{listener="http"}': constant(7_200 + 604_900),
    },
    labels: { listener: 'http' },
  },
  PillarboxBackupOld: {
    fires: { pillarbox_last_backup_timestamp_seconds: constant(-172_801) },
    rests: { pillarbox_last_backup_timestamp_seconds: constant(0) },
  },
  PillarboxCheckFailed: {
    fires: { 'pillarbox_check_status{check="spf"}': constant(2) },
    rests: { 'pillarbox_check_status{check="spf"}': constant(1) },
    labels: { check: 'spf' },
  },
}

function buckets(counts: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(counts).map(([le, step]) => [
      `pillarbox_commit_duration_seconds_bucket{le="${le}"}`,
      rising(step),
    ]),
  )
}

/** A unit test of promtool; JSON is YAML. */
function unitTest(name: string, series: Record<string, string>, isFiring: boolean) {
  const { labels = {} } = SCENARIOS[name] ?? {}
  const severity = new RegExp(
    `- alert: ${name}\\n[\\s\\S]*?severity: (\\w+)[\\s\\S]*?summary: (.+)`,
  )
  const [, level, summary] = severity.exec(readRules()) ?? []
  const alert = { exp_labels: { ...labels, severity: level }, exp_annotations: { summary } }
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
    alert_rule_test: [{ eval_time: '2h', alertname: name, exp_alerts: isFiring ? [alert] : [] }],
  }
}

describe('promtool', { skip }, () => {
  it('finds no fault in the alert rules of the guide', (t) => {
    const { folder, names } = writeRules(t)
    const { status, output } = promtool(['check', 'rules', path.join(folder, 'rules.yml')])
    assert.equal(status, 0, output)
    assert.match(output, new RegExp(`${names.length} rules found`))
  })

  it('fires every alert of the guide when it should, and only then', (t) => {
    const { folder, names } = writeRules(t)
    assert.deepEqual(Object.keys(SCENARIOS).sort(), [...names].sort())
    const tests = Object.entries(SCENARIOS).flatMap(([name, { fires, rests }]) => [
      unitTest(name, fires, true),
      unitTest(name, rests, false),
    ])
    const file = path.join(folder, 'tests.yml')
    writeFileSync(file, JSON.stringify({ rule_files: ['rules.yml'], tests }))
    const { status, output } = promtool(['test', 'rules', file])
    assert.equal(status, 0, output)
  })

  it('finds no fault in the metrics of a running server', async (t) => {
    const installation = await install(t, "[http]\nlisten = '127.0.0.1:0'\n")
    const { url } = await installation.serve()
    const text = await (await fetch(`${url}/metrics`)).text()
    const { status, output } = promtool(['check', 'metrics'], text)
    assert.deepEqual([status, output], [0, ''])
    // The first scrape has every other metric that the rules name.
    const known = new Set(text.match(/^# HELP \S+/gm)?.map((line) => line.slice('# HELP '.length)))
    for (const [name] of readRules().matchAll(/pillarbox_\w+/g)) {
      const isKnown = known.has(name.replace(/_bucket$/, ''))
      assert.ok(isKnown || LATER.has(name), name)
    }
  })
})
