/**
 * Released migrations never change: databases of the field have applied them, and would keep the old
 * tables while counting as current.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { readMigrations } from '../../src/store/migrate.ts'

/** SHA-256 of each released file. A release adds its new migrations here. */
const RELEASED: Record<string, string> = {
  '0001_initial.sql': 'c8a9e03461bbab0a437593da33d3697e62312df328c65d00dde6912ba19c1a92',
  '0002_idempotency_answer.sql': 'd4ed3e145158ff3acbe6985f3150d55be71df6e3ea6f0877a51723b8807d22c5',
  '0003_held_suppressions.sql': '0e64f83548fc1ab6b7261f2036522791c513af3f80af2aa72352d0b50927ec27',
  '0004_questions.sql': '888c718fa6e2f1f34192512f9d2466b467878c5dfc3afed5333176e59952b65d',
  '0005_inbound.sql': '4342bb1aab8b90c04561050d85d815c4037d98ca6a05a589eba66d4ed65bf547',
  '0006_template_faults.sql': 'eb73ba306a9dd768bc758eb4f998ad5b0c3787ee5b54d4d287128f8bbcb21a5d',
  '0007_chunks.sql': '7bba67c33de617cfe64978b874e96b4b60e3b37093e7e4e4eb6e0426130576f6',
  '0008_listed_events.sql': '9de1d4ddec916e325be32096af73a076839ba01a7f9bd54f7b9e2a8725b59fe8',
  '0009_pending_kind.sql': 'c077dbc4bc4bab0c482fdf6f45d7bc4fc1c84b3e942e1b089c41fa661a58a978',
  '0010_campaigns.sql': '111541ce5417b0ed9fba34d53e733f93a938ecca4580b6f571eeee9364dab108',
  '0011_no_lease_id.sql': '2650a77a94cb150e9e67bc4facf9c4d75b8650cfc5bf21931e560c48a2b6f7a1',
  '0012_attempt_numbers.sql': '2f59d9cb6d206db4017077548d0faf57bb6cec76da4458dab48389f641e52d83',
  '0013_paced_campaigns.sql': '64278096efa374ef3093bdebcd7017e56618b5851b67c6c48d0da8710825ee5c',
  '0014_workflows.sql': 'c3c2b9c2de503df3d61bc8504c9f3b005d618386d947199c57abd15d9435d0da',
  '0015_webhooks.sql': '274e37c9dfea5b39f5183fc2399e9163eb12f277732c908ee42ad686a7c723e8',
  '0016_accounts.sql': 'e111503328b747ab850d95f0d0a6cbf09f5747b360301fac3bfb5b2b8f616011',
  '0017_billing_analytics.sql': 'a768ff1e5abaae1fc392694f0667f1aaa186025ceb1acd70ad85685126c3c7b2',
  '0018_metering.sql': 'a245925f81e1b7d70f16530212f3e2cfe4492bbfd3e51c2452acf84a960ffd19',
  '0019_uncounted_ends.sql': '05889c054e19adb8f7a3f3b8c0a7abbcf74fd61615b5cfd1a3c0e5b54ed82fdb',
}

test('released migrations are unchanged', () => {
  const sqlByName = new Map(readMigrations().map(({ name, sql }) => [name, sql]))
  for (const [name, sum] of Object.entries(RELEASED)) {
    const sql = sqlByName.get(name)
    assert.ok(sql !== undefined, `${name} is released and must not be renamed or deleted`)
    assert.equal(
      hash('sha256', sql),
      sum,
      `${name} is released: restore it, and write a new migration instead`,
    )
  }
})

test('unreleased migrations have the highest numbers', () => {
  const names = readMigrations().map(({ name }) => name)
  const released = names.filter((name) => name in RELEASED)
  assert.deepEqual(released, names.slice(0, released.length))
  assert.ok(released.length >= 19)
})
