/** What all screens say about the server, also those before the dashboard. */
import { isOffline, isOutdated } from '../api/session.ts'
import { t } from '../text/text.ts'

export function ServerBanners() {
  return (
    <>
      {isOffline.value && <p class="note warn banner">{t('shell.offline')}</p>}
      {isOutdated.value && (
        <p class="note banner">
          {t('shell.newVersion')}{' '}
          <button class="btn" type="button" onClick={() => location.reload()}>
            {t('shell.reload')}
          </button>
        </p>
      )}
    </>
  )
}
