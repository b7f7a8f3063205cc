import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { runCli } from '../../src/cli/cli.ts'
import { makeFolder } from '../config/config-folder.ts'
import { makeTerminal, runAt } from '../fakes/terminal.ts'
import { placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
const env = {
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com',
  PILLARBOX_DELIVERY__MODE: 'direct',
}
const owner = 'owner@example.test'

const run = (...argv: string[]) => runAt({ cwd, env }, ...argv)

async function makeProject(name: string): Promise<string> {
  const { out, err } = await run('project', 'create', '--name', name, '--owner', owner, '--json')
  assert.equal(err, '')
  return JSON.parse(out).id
}

/** Runs the command at a terminal where somebody types. */
async function deleteAsking(id: string, typed: string) {
  const terminal = makeTerminal({ cwd, env, input: `${typed}\n`, isTTY: true })
  const status = await runCli(['project', 'delete', id], terminal)
  return { status, out: terminal.out(), err: terminal.err() }
}

describe('pillarbox project delete', () => {
  before(async () => {
    await placeDatabase(cwd)
    await run('user', 'create', '--email', owner)
  })

  it('deletes with --yes, and the project is no longer there', async () => {
    const id = await makeProject('Gone')
    const { status, out } = await run('project', 'delete', id, '--yes', '--json')
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(out), { id, deleted: true })
    assert.doesNotMatch((await run('project', 'list')).out, /Gone/)
    const again = await run('project', 'delete', id, '--yes', '--json')
    assert.equal(JSON.parse(again.err).error.code, 'RESOURCE_NOT_FOUND')
    assert.equal(again.status, 1)
  })

  it('asks at a terminal, and only the word yes deletes', async () => {
    const id = await makeProject('Kept')
    const refused = await deleteAsking(id, 'y')
    assert.equal(refused.status, 0)
    assert.match(refused.err, /Delete project Kept \(.*\) and all of its data\?/)
    assert.match(refused.out, /Project Kept was not deleted/)
    assert.match((await run('project', 'list')).out, /Kept/)
    assert.match((await deleteAsking(id, 'yes')).out, /Project Kept was deleted/)
    assert.doesNotMatch((await run('project', 'list')).out, /Kept/)
  })

  it('needs --yes without a terminal', async () => {
    const id = await makeProject('Script')
    const { status, err } = await run('project', 'delete', id)
    assert.equal(status, 2)
    assert.match(err, /--yes/)
    assert.match((await run('project', 'list')).out, /Script/)
  })

  it('deletes a disabled project', async () => {
    const id = await makeProject('Bad')
    await run('project', 'update', id, '--disable', 'MANUAL')
    assert.equal((await run('project', 'delete', id, '--yes')).status, 0)
  })

  it('warns about the project that sends the mail of the server', async () => {
    const id = await makeProject('Mail')
    const named = { ...env, PILLARBOX_ACCOUNTS__MAIL_PROJECT: id }
    const mail = { PILLARBOX_ACCOUNTS__MAIL_FROM: 'noreply@example.test' }
    const { status, err } = await runAt(
      { cwd, env: { ...named, ...mail } },
      ...['project', 'delete', id, '--yes'],
    )
    assert.equal(status, 0, err)
    assert.match(err, /warning: this project sends the mail of the server/)
  })
})
