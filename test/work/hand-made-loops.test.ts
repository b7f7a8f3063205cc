/** Loops run in `src/work/loop.ts`. What else sets a timer is named here, with the reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../architecture-rules.ts'

const TIMER = /\b(?:setTimeout|setInterval)\(/

/** A trailing `/` means the whole folder. */
const REASONS: Record<string, string> = {
  'work/': 'the loop itself, and the rest of paced work',
  'config/': 'below work: the watches of certificates',
  'store/': 'below work: the writer, the lock, the watches of files and of the disk',
  'threads/': 'below work: the supervision of threads',
  'outbound/': 'deadlines of connections, and loops whose pace is that of delivery',
  'dashboard/': 'code of the browser',
  'cli/serve.ts': 'the deadline of a stop',
  'cli/systemd/service-state.ts': 'the service manager wants a sign at fixed times',
  'features/mail/messages/delivery/record-results.ts':
    'results of several batches are written at a time',
  'features/operation/log-level.ts': 'the end of a level that was set for a while',
  'features/operation/metrics/list-gauges.ts': 'waits for the first figures',
  'features/operation/metrics/gauge.ts': 'the patience of a scrape',
  'features/outreach/campaigns/audience/total-recipients.ts': 'the patience of a request',
  'features/outreach/webhooks/dispatch/dispatcher.ts': 'deadlines of requests and of the stop',
  'features/tenancy/billing/stripe.ts': 'the deadline of a stop',
  'http/': 'deadlines of requests and connections',
  'inbound/': 'deadlines of sessions and verdicts',
}

test('no file sets a timer of its own, but for those whose reason is known', () => {
  const names = Object.keys(REASONS)
  const used = new Set<string>()
  const unknown: string[] = []
  for (const [file, text] of readSources()) {
    if (!TIMER.test(text)) continue
    const name = names.find((each) => (each.endsWith('/') ? file.startsWith(each) : file === each))
    if (name === undefined) unknown.push(file)
    else used.add(name)
  }
  assert.deepEqual(
    unknown,
    [],
    'Use startLoop of src/work/loop.ts, or name the file here and say why.',
  )
  assert.deepEqual([...used].sort(), names.sort(), 'A file that sets no timer any more is named.')
})
