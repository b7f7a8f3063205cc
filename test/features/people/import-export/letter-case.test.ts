/** A column whose key differs from that of most contacts only in its letter case. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addProject, openTestCore } from '../../../core.ts'
import { addContacts } from '../../outreach/campaigns/sending/campaign.ts'
import { importFile, listContacts } from './run-import.ts'

test('a warning names the mapping that fills the key that contacts have', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const data = [
    { Vorname: 'Ada', Straße: 'x', plan: 'a' },
    { Vorname: 'Bob', plan: 'b' },
    { vorname: 'C' },
  ]
  const people = data.map((each, at) => ({ address: `p${at}@dest.test`, data: each }))
  await addContacts(core, projectId, people)
  const file = 'email,Vorname,STRASSE,strasse,PLAN,Plan 2\np0@dest.test,Eva,y,z,c,d\n'
  const expected =
    'The column "Vorname" becomes the key "vorname"; contacts have the key "Vorname": map {"Vorname":"Vorname"} to fill it.'
  const { warnings } = await importFile(core, file, { projectId, dryRun: true })
  assert.deepEqual(
    warnings.filter((each) => each.includes('to fill it')),
    [expected],
  )
  const mapping = [['vorname', 'Vorname'] as const]
  assert.doesNotMatch(
    (await importFile(core, file, { projectId, mapping })).warnings.join(),
    /fill it/,
  )
  assert.equal((await listContacts(core, projectId))[0]?.data?.Vorname, 'Eva')
  const exact = await importFile(core, 'email,data.VORNAME\np0@dest.test,x\n', { projectId })
  assert.match(
    exact.warnings.join(),
    /"data.VORNAME" becomes the key "VORNAME".*\{"data.VORNAME":"Vorname"\}/,
  )
  const { id: other } = await addProject(core)
  assert.deepEqual(
    (await importFile(core, file, { projectId: other })).warnings.filter((each) =>
      each.includes('to fill it'),
    ),
    [],
  )
})
