/** What the area of operation hands in: backups, certificates, the erasure of projects. */
import { backups } from '../../store/schema/backups.ts'
import { serverQuestions } from '../../store/schema/service.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { startCertificateOrders } from './acme/certificate-orders.ts'
import type { Challenges } from './acme/challenges.ts'
import { startBackups } from './backup/schedule/schedule.ts'
import { resumeErasures } from './erasure/end-project.ts'
import { DELETION_KIND, RESET_KIND } from './erasure/kinds.ts'
import { runDeletion, runReset } from './erasure/run.ts'

type Parts = Base & { acmeChallenges: Challenges }

export const operation: Area<Parts> = {
  name: 'operation',
  loops: [startBackups, startCertificateOrders],
  jobs: [
    { name: 'resume-erasures', schedule: '*/10 * * * *', run: resumeErasures },
    // A fence lets these jobs run, because they change rows of this server only, and make no
    // events.
    { name: RESET_KIND, atOnce: 2, fence: 'runs', run: runReset },
    { name: DELETION_KIND, atOnce: 2, fence: 'runs', run: runDeletion },
  ],
  retentions: [],
  tables: [{ table: backups }, { table: serverQuestions }],
  references: [],
}
