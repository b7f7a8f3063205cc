/** Writes executions that sleep in a DELAY, with their contacts, directly into the database. */
import Database from 'better-sqlite3'

export type Sleepers = {
  projectId: string
  workflowId: string
  triggerId: string
  delayId: string
  count: number
  dueAt: number
}

export function addSleepers(file: string, sleepers: Sleepers): void {
  const db = new Database(file)
  db.exec('PRAGMA synchronous = OFF')
  const { projectId, workflowId, triggerId, delayId, count, dueAt } = sleepers
  const at = Date.now() - 3_600_000
  const values = { projectId, workflowId, triggerId, delayId, count, dueAt, at }
  const numbers =
    'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < @count - 1)'
  const run = (sql: string) => db.prepare(sql).run(values)
  db.transaction(() => {
    run(`${numbers} INSERT INTO contacts (id, project_id, email, subscribed, created_at, updated_at)
      SELECT printf('01900000-0000-7000-8000-%012x', i), @projectId,
        'sleeper' || i || '@example.net', 1, @at, @at FROM n`)
    // The search of contacts is not measured.
    run('DELETE FROM contact_search_backlog WHERE @count > 0')
    run(`${numbers} INSERT INTO workflow_executions (id, project_id, workflow_id, contact_id, status,
        current_step_id, due_at, steps_done, started_at, updated_at)
      SELECT printf('01900001-0000-7000-8000-%012x', i), @projectId, @workflowId,
        printf('01900000-0000-7000-8000-%012x', i), 'WAITING', @delayId, @dueAt + i, 1, @at, @at
      FROM n`)
    run(`INSERT INTO workflow_step_executions (execution_number, ordinal, id, step_id, status,
        scheduled_for, output, started_at, completed_at)
      SELECT number, step.ordinal, substr(id, 1, 35) || step.ordinal,
        CASE step.ordinal WHEN 0 THEN @triggerId ELSE @delayId END,
        CASE step.ordinal WHEN 0 THEN 'COMPLETED' ELSE 'WAITING' END,
        CASE step.ordinal WHEN 1 THEN due_at END, '{}', @at,
        CASE step.ordinal WHEN 0 THEN @at END
      FROM workflow_executions CROSS JOIN (SELECT 0 AS ordinal UNION SELECT 1) AS step
      WHERE workflow_id = @workflowId`)
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Makes the first `count` sleepers due now. */
export function wakeSleepers(file: string, workflowId: string, count: number): void {
  const db = new Database(file, { timeout: 30_000 })
  const first = `SELECT number FROM workflow_executions WHERE workflow_id = @workflowId
    AND due_at IS NOT NULL ORDER BY due_at LIMIT @count`
  const values = { workflowId, count, at: Date.now() }
  db.transaction(() => {
    db.prepare(
      `UPDATE workflow_step_executions SET scheduled_for = @at
        WHERE ordinal = 1 AND execution_number IN (${first})`,
    ).run(values)
    db.prepare(`UPDATE workflow_executions SET due_at = @at WHERE number IN (${first})`).run(values)
  }).immediate()
  db.close()
}
