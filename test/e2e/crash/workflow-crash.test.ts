import { test } from 'node:test'
import { crashWorkflow } from './crash-workflow.ts'

/** A longer run: `CRASH_EXECUTIONS=10000`. */
const executions = Number(process.env.CRASH_EXECUTIONS ?? 120)
const kills = executions > 5_000 ? 25 : 2

test('F1, F6: each step has its effect once, however often the server is killed', async (t) => {
  const { webhooks } = await crashWorkflow(t, { executions, kills, runMs: 900 })
  t.diagnostic(`${executions} executions, ${kills} kills, ${webhooks} webhooks`)
})
