import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { makeFolder } from '../config/config-folder.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
const env = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, text, json } = commandsAt({ cwd, env })
const UNKNOWN = '01900000-0000-7000-8000-000000000000'
let project: string

async function failure(...argv: string[]): Promise<string> {
  const { status, out, err } = await run(...argv)
  assert.equal(out, '')
  assert.notEqual(status, 0)
  return err
}

const member = (verb: string, email: string, ...options: string[]) =>
  ['project', 'member', verb, project, '--email', `${email}@example.test`, ...options] as const

const roles = async (): Promise<Record<string, string>> => {
  const members = await json('project', 'member', 'list', project)
  return Object.fromEntries(
    members.map(({ email, role }: { email: string; role: string }) => [email.split('@')[0], role]),
  )
}

before(async () => {
  await placeDatabase(cwd)
  for (const name of ['owner', 'ann', 'bob']) {
    await json('user', 'create', '--email', `${name}@example.test`)
  }
  project = (await json('project', 'create', '--name', 'Shop', '--owner', 'owner@example.test')).id
})

describe('pillarbox project member', () => {
  it('adds, lists, changes and removes members', async () => {
    const added = await json(...member('add', 'ann'))
    assert.deepEqual(Object.keys(added), ['userId', 'email', 'role'])
    assert.match(await text(...member('add', 'bob', '--role', 'admin')), /bob@.*now: ADMIN\.\n$/)
    assert.deepEqual(await roles(), { owner: 'OWNER', ann: 'MEMBER', bob: 'ADMIN' })
    const table = await text('project', 'member', 'list', project)
    assert.match(table, /^ID +EMAIL +ROLE +SINCE\n.*owner@example\.test +OWNER/)
    await json(...member('role', 'bob', '--role', 'MEMBER'))
    await json(...member('remove', 'ann'))
    assert.deepEqual(await roles(), { owner: 'OWNER', bob: 'MEMBER' })
  })

  it('hands the project over: the old owner becomes an ADMIN', async () => {
    assert.match(await text(...member('role', 'bob', '--role', 'OWNER')), /has the role OWNER now/)
    assert.deepEqual(await roles(), { owner: 'ADMIN', bob: 'OWNER' })
    const [listed] = await json('project', 'list')
    assert.equal(listed.owner, 'bob@example.test')
    assert.match(await text('project', 'list'), /OWNER.*\n.*bob@example\.test/)
  })

  it('never leaves a project without its owner', async () => {
    assert.match(await failure(...member('remove', 'bob')), /owner of a project cannot be removed/)
    const demoted = await failure(...member('role', 'bob', '--role', 'ADMIN'))
    assert.match(demoted, /role of the owner cannot be changed/)
    assert.equal((await roles()).bob, 'OWNER')
  })

  it('refuses unknown users, projects, roles and members', async () => {
    assert.match(await failure(...member('add', 'nobody')), /No user has this email address/)
    assert.match(await failure(...member('add', 'bob')), /already a member/)
    assert.match(await failure(...member('role', 'ann', '--role', 'ADMIN')), /no member/)
    assert.match(await failure(...member('remove', 'ann')), /no member/)
    assert.match(await failure(...member('add', 'ann', '--role', 'OWNER')), /expected one of ADMIN/)
    assert.match(await failure(...member('role', 'ann')), /missing: --role/)
    for (const verb of ['list', 'add', 'remove', 'role']) {
      const role = verb === 'role' ? ['--role', 'OWNER'] : []
      const options = verb === 'list' ? [] : ['--email', 'ann@example.test', ...role]
      const err = await failure('project', 'member', verb, UNKNOWN, ...options)
      assert.match(err, /No project has this id/)
    }
    assert.deepEqual(await roles(), { owner: 'ADMIN', bob: 'OWNER' })
  })

  it('is listed in the help of project, with its own commands', async () => {
    assert.match(await text('project', '--help'), /member .*manage the members of a project/)
    assert.match(await text('project', 'member', '--help'), /role .*change the role of a member/)
    assert.match(await failure('project', 'member'), /which command\?/)
  })
})
