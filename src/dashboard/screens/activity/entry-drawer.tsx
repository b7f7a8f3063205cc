/** All that is known of one entry of the feed. */
import {
  type ActivityEntry,
  emailOfEntry,
  factsOfEntry,
  subjectOfEntry,
  toneOfEntry,
} from '../../logic/activity.ts'
import { visible } from '../../logic/visible.ts'
import { codeText, t } from '../../text/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { link } from '../../ui/link.ts'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

type DrawerProps = {
  /** Undefined: the entry of the address is none of those that are loaded. */
  entry: ActivityEntry | undefined
  onClose(): void
}

export function EntryDrawer({ entry, onClose }: DrawerProps) {
  if (entry === undefined) {
    return (
      <Dialog title={t('nav.activity')} onClose={onClose} class="drawer">
        <p>{t('activity.gone')}</p>
      </Dialog>
    )
  }
  const email = emailOfEntry(entry)
  const { reason } = entry.metadata
  return (
    <Dialog
      title={visible(subjectOfEntry(entry)) || t('activity.unnamed')}
      onClose={onClose}
      class="drawer"
    >
      <dl class="facts">
        <dt>{t('activity.what')}</dt>
        <dd>
          <Status tone={toneOfEntry(entry)}>{codeText('type', entry.type) ?? entry.type}</Status>
        </dd>
        {entry.contactEmail !== undefined && (
          <>
            <dt>{t('activity.who')}</dt>
            <dd>{entry.contactEmail}</dd>
          </>
        )}
        <dt>{t('activity.when')}</dt>
        <dd>
          <Time at={entry.timestamp} form="full" />
        </dd>
      </dl>
      {typeof reason === 'string' && (
        <p class="section" lang="en">
          {visible(reason)}
        </p>
      )}
      {email !== undefined && (
        <p class="section">
          <a class="btn main" href={link(`/emails/${email}`)}>
            {t('activity.open')}
          </a>
        </p>
      )}
      <section class="section">
        <h3>{t('activity.data')}</h3>
        <dl class="facts mono" lang="en">
          {factsOfEntry(entry).map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{visible(value)}</dd>
            </>
          ))}
        </dl>
      </section>
    </Dialog>
  )
}
