/**
 * The texts of the page of an invitation in each language. `{project}`, `{inviter}` and `{email}` stand
 * for the name of the project and the addresses of who invites and who is invited.
 */
import type { Language } from '../../../formats/languages.ts'

export type InvitationTexts = {
  title: string
  text: string
  role: { ADMIN: string; MEMBER: string }
  accept: string
  /** To a reader without an account. */
  newcomer: string
  password: string
  wrongPassword: string
  /** To a reader who has to log in first. */
  logIn: { text: string; button: string }
  /** To a reader who is logged in with another address. */
  other: string
  /** To a reader whose account may join no other project yet. */
  bound: string
  /** While the project is disabled. */
  closed: string
  accepted: { title: string; text: string; button: string }
  gone: { title: string; text: string }
}

export const INVITATION_TRANSLATIONS: Readonly<Record<Language, InvitationTexts>> = {
  en: {
    title: 'You are invited',
    text: '{inviter} invites {email} to work on the project {project}.',
    role: {
      ADMIN:
        'As an admin you use everything in the project, and manage its members, domains and keys.',
      MEMBER: 'As a member you use everything in the project, such as contacts and campaigns.',
    },
    accept: 'Accept the invitation',
    newcomer: 'Choose a password. It makes your account for this address.',
    password: 'Password',
    wrongPassword: 'Please choose a password of 6 to 1,000 characters.',
    logIn: {
      text: 'There is an account for {email}. Log in first, then open this page again.',
      button: 'Log in',
    },
    other: 'You are logged in with another address. Log out, then open this page again.',
    bound:
      'Your account belongs to another project only until its address is verified. Please ask the operator of this server to verify the address.',
    closed: 'The project is disabled at the moment, so nobody can join it. Please try again later.',
    accepted: {
      title: 'Welcome',
      text: '{email} is now a member of the project {project}.',
      button: 'Continue',
    },
    gone: {
      title: 'This invitation does not work',
      text: 'It was used or withdrawn, or it is more than 7 days old. Please ask the person who invited you for a new one.',
    },
  },
  nl: {
    title: 'Je bent uitgenodigd',
    text: '{inviter} nodigt {email} uit om mee te werken aan het project {project}.',
    role: {
      ADMIN:
        'Als beheerder gebruik je alles in het project en beheer je de leden, domeinen en sleutels.',
      MEMBER: 'Als lid gebruik je alles in het project, zoals contacten en campagnes.',
    },
    accept: 'Uitnodiging accepteren',
    newcomer: 'Kies een wachtwoord. Daarmee maak je een account voor dit adres.',
    password: 'Wachtwoord',
    wrongPassword: 'Kies een wachtwoord van 6 tot 1.000 tekens.',
    logIn: {
      text: 'Er is al een account voor {email}. Log eerst in en open daarna deze pagina opnieuw.',
      button: 'Inloggen',
    },
    other: 'Je bent ingelogd met een ander adres. Log uit en open daarna deze pagina opnieuw.',
    bound:
      'Je account hoort alleen bij een ander project totdat het adres is geverifieerd. Vraag de beheerder van deze server om het adres te verifiëren.',
    closed:
      'Het project is op dit moment uitgeschakeld, dus niemand kan lid worden. Probeer het later opnieuw.',
    accepted: {
      title: 'Welkom',
      text: '{email} is nu lid van het project {project}.',
      button: 'Doorgaan',
    },
    gone: {
      title: 'Deze uitnodiging werkt niet',
      text: 'De uitnodiging is gebruikt of ingetrokken, of is ouder dan 7 dagen. Vraag degene die je heeft uitgenodigd om een nieuwe.',
    },
  },
  fr: {
    title: 'Vous avez une invitation',
    text: '{inviter} invite {email} à travailler sur le projet {project}.',
    role: {
      ADMIN:
        'Avec le rôle d’administrateur, vous utilisez tout le projet et gérez ses membres, ses domaines et ses clés.',
      MEMBER:
        'Avec le rôle de membre, vous utilisez tout le projet, comme les contacts et les campagnes.',
    },
    accept: 'Accepter l’invitation',
    newcomer: 'Choisissez un mot de passe. Il crée votre compte pour cette adresse.',
    password: 'Mot de passe',
    wrongPassword: 'Veuillez choisir un mot de passe de 6 à 1 000 caractères.',
    logIn: {
      text: 'Un compte existe déjà pour {email}. Connectez-vous d’abord, puis ouvrez de nouveau cette page.',
      button: 'Se connecter',
    },
    other:
      'Votre session est ouverte avec une autre adresse. Déconnectez-vous, puis ouvrez de nouveau cette page.',
    bound:
      'Votre compte appartient à un seul autre projet tant que son adresse n’est pas vérifiée. Demandez à l’administrateur de ce serveur de vérifier l’adresse.',
    closed:
      'Le projet est désactivé pour le moment et n’accepte pas de nouveaux membres. Veuillez réessayer plus tard.',
    accepted: {
      title: 'Bienvenue',
      text: '{email} fait maintenant partie du projet {project}.',
      button: 'Continuer',
    },
    gone: {
      title: 'Cette invitation ne fonctionne pas',
      text: 'Elle a été utilisée ou retirée, ou elle a plus de 7 jours. Demandez-en une nouvelle à la personne qui vous a invité.',
    },
  },
  hi: {
    title: 'आपको आमंत्रण मिला है',
    text: '{inviter} ने {email} को प्रोजेक्ट {project} पर काम करने के लिए आमंत्रित किया है।',
    role: {
      ADMIN:
        'एडमिन के रूप में आप प्रोजेक्ट की हर चीज़ का उपयोग करते हैं और उसके सदस्य, डोमेन और कुंजियाँ प्रबंधित करते हैं।',
      MEMBER: 'सदस्य के रूप में आप प्रोजेक्ट की हर चीज़ का उपयोग करते हैं, जैसे संपर्क और अभियान।',
    },
    accept: 'आमंत्रण स्वीकार करें',
    newcomer: 'एक पासवर्ड चुनें। इससे इस पते के लिए आपका खाता बन जाएगा।',
    password: 'पासवर्ड',
    wrongPassword: 'कृपया 6 से 1,000 वर्णों का पासवर्ड चुनें।',
    logIn: {
      text: '{email} का खाता पहले से है। पहले लॉग इन करें, फिर यह पेज दोबारा खोलें।',
      button: 'लॉग इन करें',
    },
    other: 'आप किसी दूसरे पते से लॉग इन हैं। लॉग आउट करें, फिर यह पेज दोबारा खोलें।',
    bound:
      'जब तक आपके खाते का पता सत्यापित नहीं होता, खाता केवल एक दूसरे प्रोजेक्ट का है। कृपया इस सर्वर के संचालक से पता सत्यापित करने को कहें।',
    closed: 'यह प्रोजेक्ट अभी बंद है, इसलिए कोई इससे जुड़ नहीं सकता। कृपया बाद में फिर कोशिश करें।',
    accepted: {
      title: 'स्वागत है',
      text: '{email} अब प्रोजेक्ट {project} का सदस्य है।',
      button: 'जारी रखें',
    },
    gone: {
      title: 'यह आमंत्रण काम नहीं करता',
      text: 'इसका उपयोग हो चुका है, इसे वापस ले लिया गया है, या यह 7 दिन से अधिक पुराना है। जिसने आपको आमंत्रित किया था, उससे नया आमंत्रण माँगें।',
    },
  },
  de: {
    title: 'Sie sind eingeladen',
    text: '{inviter} lädt {email} ein, am Projekt {project} mitzuarbeiten.',
    role: {
      ADMIN:
        'Als Admin nutzen Sie alles im Projekt und verwalten seine Mitglieder, Domains und Schlüssel.',
      MEMBER: 'Als Mitglied nutzen Sie alles im Projekt, zum Beispiel Kontakte und Kampagnen.',
    },
    accept: 'Einladung annehmen',
    newcomer: 'Wählen Sie ein Passwort. Damit entsteht Ihr Konto für diese Adresse.',
    password: 'Passwort',
    wrongPassword: 'Bitte wählen Sie ein Passwort mit 6 bis 1.000 Zeichen.',
    logIn: {
      text: 'Für {email} gibt es schon ein Konto. Melden Sie sich zuerst an und öffnen Sie dann diese Seite noch einmal.',
      button: 'Anmelden',
    },
    other:
      'Sie sind mit einer anderen Adresse angemeldet. Melden Sie sich ab und öffnen Sie dann diese Seite noch einmal.',
    bound:
      'Ihr Konto gehört nur zu einem anderen Projekt, bis seine Adresse bestätigt ist. Bitten Sie den Betreiber dieses Servers, die Adresse zu bestätigen.',
    closed:
      'Das Projekt ist zurzeit gesperrt, deshalb kann niemand beitreten. Bitte versuchen Sie es später noch einmal.',
    accepted: {
      title: 'Willkommen',
      text: '{email} ist jetzt Mitglied des Projekts {project}.',
      button: 'Weiter',
    },
    gone: {
      title: 'Diese Einladung funktioniert nicht',
      text: 'Sie wurde benutzt oder zurückgezogen, oder sie ist älter als 7 Tage. Bitten Sie die Person, die Sie eingeladen hat, um eine neue.',
    },
  },
  pt: {
    title: 'Recebeu um convite',
    text: '{inviter} convida {email} para trabalhar no projeto {project}.',
    role: {
      ADMIN:
        'Com a função de administrador, utiliza tudo no projeto e gere os membros, os domínios e as chaves.',
      MEMBER: 'Com a função de membro, utiliza tudo no projeto, como contactos e campanhas.',
    },
    accept: 'Aceitar o convite',
    newcomer: 'Escolha uma palavra-passe. Com ela é criada a sua conta para este endereço.',
    password: 'Palavra-passe',
    wrongPassword: 'Escolha uma palavra-passe de 6 a 1000 caracteres.',
    logIn: {
      text: 'Já existe uma conta para {email}. Inicie sessão primeiro e abra depois esta página de novo.',
      button: 'Iniciar sessão',
    },
    other:
      'Tem sessão iniciada com outro endereço. Termine a sessão e abra depois esta página de novo.',
    bound:
      'A sua conta pertence apenas a outro projeto até o endereço ser verificado. Peça ao operador deste servidor que verifique o endereço.',
    closed:
      'O projeto está desativado neste momento, por isso ninguém pode aderir. Tente novamente mais tarde.',
    accepted: {
      title: 'Damos-lhe as boas-vindas',
      text: '{email} já faz parte do projeto {project}.',
      button: 'Continuar',
    },
    gone: {
      title: 'Este convite não funciona',
      text: 'Foi utilizado ou retirado, ou tem mais de 7 dias. Peça um novo à pessoa que o enviou.',
    },
  },
  bg: {
    title: 'Имате покана',
    text: '{inviter} кани {email} да работи по проекта {project}.',
    role: {
      ADMIN:
        'Като администратор използвате всичко в проекта и управлявате неговите членове, домейни и ключове.',
      MEMBER: 'Като член използвате всичко в проекта, например контакти и кампании.',
    },
    accept: 'Приемане на поканата',
    newcomer: 'Изберете парола. С нея се създава вашият профил за този адрес.',
    password: 'Парола',
    wrongPassword: 'Моля, изберете парола от 6 до 1000 знака.',
    logIn: {
      text: 'За {email} вече има профил. Първо влезте в него и след това отворете тази страница отново.',
      button: 'Вход',
    },
    other: 'Влезли сте с друг адрес. Излезте и след това отворете тази страница отново.',
    bound:
      'Вашият акаунт принадлежи само на друг проект, докато адресът му не бъде потвърден. Моля, помолете оператора на този сървър да потвърди адреса.',
    closed:
      'В момента проектът е спрян и никой не може да се присъедини. Моля, опитайте отново по-късно.',
    accepted: {
      title: 'Добре дошли',
      text: '{email} вече е член на проекта {project}.',
      button: 'Продължаване',
    },
    gone: {
      title: 'Тази покана не работи',
      text: 'Тя е използвана или оттеглена, или е отпреди повече от 7 дни. Поискайте нова от човека, който ви е поканил.',
    },
  },
  cs: {
    title: 'Máte pozvánku',
    text: '{inviter} zve {email} ke spolupráci na projektu {project}.',
    role: {
      ADMIN: 'Jako správce používáte v projektu vše a spravujete jeho členy, domény a klíče.',
      MEMBER: 'Jako člen používáte v projektu vše, například kontakty a kampaně.',
    },
    accept: 'Přijmout pozvánku',
    newcomer: 'Zvolte si heslo. Tím vznikne váš účet pro tuto adresu.',
    password: 'Heslo',
    wrongPassword: 'Zvolte prosím heslo o délce 6 až 1 000 znaků.',
    logIn: {
      text: 'Pro adresu {email} už účet existuje. Nejprve se přihlaste a pak tuto stránku otevřete znovu.',
      button: 'Přihlásit se',
    },
    other: 'Jste přihlášeni s jinou adresou. Odhlaste se a pak tuto stránku otevřete znovu.',
    bound:
      'Váš účet patří jen k jinému projektu, dokud není jeho adresa ověřena. Požádejte prosím provozovatele tohoto serveru o ověření adresy.',
    closed:
      'Projekt je momentálně vypnutý, takže se k němu nikdo nemůže připojit. Zkuste to prosím později.',
    accepted: {
      title: 'Vítejte',
      text: '{email} je nyní členem projektu {project}.',
      button: 'Pokračovat',
    },
    gone: {
      title: 'Tato pozvánka nefunguje',
      text: 'Byla použita nebo odvolána, nebo je starší než 7 dní. Požádejte o novou toho, kdo vás pozval.',
    },
  },
  pl: {
    title: 'Masz zaproszenie',
    text: '{inviter} zaprasza {email} do pracy nad projektem {project}.',
    role: {
      ADMIN:
        'Jako administrator korzystasz ze wszystkiego w projekcie i zarządzasz jego członkami, domenami i kluczami.',
      MEMBER:
        'Jako członek korzystasz ze wszystkiego w projekcie, na przykład z kontaktów i kampanii.',
    },
    accept: 'Przyjmij zaproszenie',
    newcomer: 'Wybierz hasło. W ten sposób powstanie Twoje konto dla tego adresu.',
    password: 'Hasło',
    wrongPassword: 'Wybierz hasło o długości od 6 do 1000 znaków.',
    logIn: {
      text: 'Dla adresu {email} istnieje już konto. Najpierw się zaloguj, a potem otwórz tę stronę ponownie.',
      button: 'Zaloguj się',
    },
    other: 'Zalogowano Cię z innym adresem. Wyloguj się, a potem otwórz tę stronę ponownie.',
    bound:
      'Twoje konto należy tylko do innego projektu, dopóki jego adres nie zostanie zweryfikowany. Poproś operatora tego serwera o zweryfikowanie adresu.',
    closed:
      'Projekt jest teraz wyłączony, więc nikt nie może do niego dołączyć. Spróbuj ponownie później.',
    accepted: {
      title: 'Witamy',
      text: '{email} należy teraz do projektu {project}.',
      button: 'Dalej',
    },
    gone: {
      title: 'To zaproszenie nie działa',
      text: 'Zostało wykorzystane lub wycofane albo ma ponad 7 dni. Poproś o nowe osobę, od której pochodzi.',
    },
  },
  es: {
    title: 'Tiene una invitación',
    text: '{inviter} invita a {email} a trabajar en el proyecto {project}.',
    role: {
      ADMIN:
        'Con el rol de administrador, usa todo el proyecto y gestiona sus miembros, dominios y claves.',
      MEMBER: 'Con el rol de miembro, usa todo el proyecto, como los contactos y las campañas.',
    },
    accept: 'Aceptar la invitación',
    newcomer: 'Elija una contraseña. Con ella se crea su cuenta para esta dirección.',
    password: 'Contraseña',
    wrongPassword: 'Elija una contraseña de 6 a 1000 caracteres.',
    logIn: {
      text: 'Ya existe una cuenta para {email}. Inicie sesión primero y vuelva a abrir esta página.',
      button: 'Iniciar sesión',
    },
    other: 'Ha iniciado sesión con otra dirección. Cierre la sesión y vuelva a abrir esta página.',
    bound:
      'Su cuenta pertenece solo a otro proyecto hasta que se verifique su dirección. Pida al operador de este servidor que verifique la dirección.',
    closed:
      'El proyecto está desactivado en este momento y nadie puede unirse. Inténtelo de nuevo más tarde.',
    accepted: {
      title: 'Le damos la bienvenida',
      text: '{email} ya forma parte del proyecto {project}.',
      button: 'Continuar',
    },
    gone: {
      title: 'Esta invitación no funciona',
      text: 'Se ha usado o retirado, o tiene más de 7 días. Pida una nueva a la persona que le invitó.',
    },
  },
  it: {
    title: 'Hai ricevuto un invito',
    text: '{inviter} invita {email} a lavorare al progetto {project}.',
    role: {
      ADMIN:
        'Come amministratore usi tutto il progetto e ne gestisci i membri, i domini e le chiavi.',
      MEMBER: 'Come membro usi tutto il progetto, per esempio i contatti e le campagne.',
    },
    accept: 'Accetta l’invito',
    newcomer: 'Scegli una password. Così viene creato il tuo account per questo indirizzo.',
    password: 'La tua password',
    wrongPassword: 'Scegli una password da 6 a 1000 caratteri.',
    logIn: {
      text: 'Esiste già un account per {email}. Prima accedi, poi apri di nuovo questa pagina.',
      button: 'Accedi',
    },
    other:
      'Hai effettuato l’accesso con un altro indirizzo. Esci, poi apri di nuovo questa pagina.',
    bound:
      'Il tuo account appartiene solo a un altro progetto finché il suo indirizzo non è verificato. Chiedi al gestore di questo server di verificare l’indirizzo.',
    closed: 'Al momento il progetto è disattivato e nessuno può entrarvi. Riprova più tardi.',
    accepted: {
      title: 'Ti diamo il benvenuto',
      text: '{email} ora fa parte del progetto {project}.',
      button: 'Continua',
    },
    gone: {
      title: 'Questo invito non funziona',
      text: 'È stato usato o ritirato, oppure ha più di 7 giorni. Chiedine uno nuovo a chi ti ha invitato.',
    },
  },
  'zh-TW': {
    title: '您收到一則邀請',
    text: '{inviter} 邀請 {email} 加入專案 {project}。',
    role: {
      ADMIN: '身為管理員，您可以使用專案中的所有內容，並管理其成員、網域和金鑰。',
      MEMBER: '身為成員，您可以使用專案中的所有內容，例如聯絡人和行銷活動。',
    },
    accept: '接受邀請',
    newcomer: '請設定密碼，系統會為這個地址建立您的帳戶。',
    password: '密碼',
    wrongPassword: '請設定 6 到 1,000 個字元的密碼。',
    logIn: {
      text: '{email} 已有帳戶。請先登入，再重新開啟此頁面。',
      button: '登入',
    },
    other: '您目前以其他地址登入。請先登出，再重新開啟此頁面。',
    bound:
      '在電子郵件地址通過驗證之前，您的帳號只屬於另一個專案。請聯絡此伺服器的管理員驗證該地址。',
    closed: '此專案目前已停用，因此無法加入。請稍後再試。',
    accepted: {
      title: '歡迎',
      text: '{email} 現在是專案 {project} 的成員。',
      button: '繼續',
    },
    gone: {
      title: '此邀請無法使用',
      text: '邀請已被使用或撤回，或已超過 7 天。請向邀請您的人索取新的邀請。',
    },
  },
  'zh-HK': {
    title: '您收到一個邀請',
    text: '{inviter} 邀請 {email} 加入項目 {project}。',
    role: {
      ADMIN: '作為管理員，您可以使用項目中的所有內容，並管理其成員、網域和金鑰。',
      MEMBER: '作為成員，您可以使用項目中的所有內容，例如聯絡人和推廣活動。',
    },
    accept: '接受邀請',
    newcomer: '請設定密碼，系統會為此地址建立您的帳戶。',
    password: '密碼',
    wrongPassword: '請設定 6 至 1,000 個字元的密碼。',
    logIn: {
      text: '{email} 已有帳戶。請先登入，然後重新開啟此頁面。',
      button: '登入',
    },
    other: '您現正以其他地址登入。請先登出，然後重新開啟此頁面。',
    bound: '在電郵地址通過驗證之前，您的帳戶只屬於另一個項目。請聯絡此伺服器的管理員驗證該地址。',
    closed: '此項目現已停用，因此無法加入。請稍後再試。',
    accepted: {
      title: '歡迎',
      text: '{email} 現已成為項目 {project} 的成員。',
      button: '繼續',
    },
    gone: {
      title: '此邀請無法使用',
      text: '邀請已被使用或撤回，或已超過 7 日。請向邀請您的人索取新的邀請。',
    },
  },
  'zh-CN': {
    title: '您收到一份邀请',
    text: '{inviter} 邀请 {email} 加入项目 {project}。',
    role: {
      ADMIN: '作为管理员，您可以使用项目中的所有内容，并管理其成员、域名和密钥。',
      MEMBER: '作为成员，您可以使用项目中的所有内容，例如联系人和营销活动。',
    },
    accept: '接受邀请',
    newcomer: '请设置密码，系统会为此地址创建您的账户。',
    password: '密码',
    wrongPassword: '请设置 6 到 1,000 个字符的密码。',
    logIn: {
      text: '{email} 已有账户。请先登录，然后重新打开此页面。',
      button: '登录',
    },
    other: '您目前使用其他地址登录。请先退出，然后重新打开此页面。',
    bound:
      '在电子邮件地址通过验证之前，您的账号只属于另一个项目。请联系此服务器的管理员验证该地址。',
    closed: '该项目目前已停用，因此无法加入。请稍后再试。',
    accepted: {
      title: '欢迎',
      text: '{email} 现在是项目 {project} 的成员。',
      button: '继续',
    },
    gone: {
      title: '此邀请无法使用',
      text: '邀请已被使用或撤回，或已超过 7 天。请向邀请您的人索取新的邀请。',
    },
  },
  ja: {
    title: '招待が届いています',
    text: '{inviter} さんが {email} をプロジェクト {project} に招待しています。',
    role: {
      ADMIN: '管理者は、プロジェクトのすべてを利用し、メンバー、ドメイン、キーを管理できます。',
      MEMBER: 'メンバーは、連絡先やキャンペーンなど、プロジェクトのすべてを利用できます。',
    },
    accept: '招待を受ける',
    newcomer: 'パスワードを決めてください。このアドレスのアカウントが作成されます。',
    password: 'パスワード',
    wrongPassword: '6～1,000文字のパスワードを入力してください。',
    logIn: {
      text: '{email} のアカウントはすでにあります。先にログインしてから、このページをもう一度開いてください。',
      button: 'ログイン',
    },
    other:
      '別のアドレスでログインしています。ログアウトしてから、このページをもう一度開いてください。',
    bound:
      'メールアドレスが確認されるまで、あなたのアカウントは別の 1 つのプロジェクトにのみ属します。このサーバーの管理者にアドレスの確認を依頼してください。',
    closed:
      'このプロジェクトは現在無効になっているため、参加できません。しばらくしてからもう一度お試しください。',
    accepted: {
      title: 'ようこそ',
      text: '{email} はプロジェクト {project} のメンバーになりました。',
      button: '続ける',
    },
    gone: {
      title: 'この招待は使えません',
      text: 'すでに使われたか、取り消されたか、7日を過ぎています。招待した人に新しい招待を依頼してください。',
    },
  },
  sv: {
    title: 'Du har fått en inbjudan',
    text: '{inviter} bjuder in {email} att arbeta i projektet {project}.',
    role: {
      ADMIN:
        'Som administratör använder du allt i projektet och hanterar dess medlemmar, domäner och nycklar.',
      MEMBER: 'Som medlem använder du allt i projektet, till exempel kontakter och kampanjer.',
    },
    accept: 'Tacka ja',
    newcomer: 'Välj ett lösenord. Då skapas ditt konto för den här adressen.',
    password: 'Lösenord',
    wrongPassword: 'Välj ett lösenord med 6 till 1 000 tecken.',
    logIn: {
      text: 'Det finns redan ett konto för {email}. Logga in först och öppna sedan sidan igen.',
      button: 'Logga in',
    },
    other: 'Du är inloggad med en annan adress. Logga ut och öppna sedan sidan igen.',
    bound:
      'Ditt konto hör bara till ett annat projekt tills adressen är verifierad. Be den som driver servern att verifiera adressen.',
    closed: 'Projektet är avstängt just nu, så ingen kan gå med. Försök igen senare.',
    accepted: {
      title: 'Välkommen',
      text: '{email} är nu medlem i projektet {project}.',
      button: 'Fortsätt',
    },
    gone: {
      title: 'Inbjudan fungerar inte',
      text: 'Den har använts eller dragits tillbaka, eller är äldre än 7 dagar. Be den som bjöd in dig om en ny.',
    },
  },
  cy: {
    title: 'Mae gwahoddiad i chi',
    text: 'Mae {inviter} yn gwahodd {email} i weithio ar y prosiect {project}.',
    role: {
      ADMIN:
        'Fel gweinyddwr, byddwch yn defnyddio popeth yn y prosiect ac yn rheoli ei aelodau, ei barthau a’i allweddi.',
      MEMBER:
        'Fel aelod, byddwch yn defnyddio popeth yn y prosiect, megis cysylltiadau ac ymgyrchoedd.',
    },
    accept: 'Derbyn y gwahoddiad',
    newcomer: 'Dewiswch gyfrinair. Bydd hyn yn creu eich cyfrif ar gyfer y cyfeiriad hwn.',
    password: 'Cyfrinair',
    wrongPassword: 'Dewiswch gyfrinair o 6 i 1,000 o nodau.',
    logIn: {
      text: 'Mae cyfrif eisoes ar gyfer {email}. Mewngofnodwch yn gyntaf, yna agorwch y dudalen hon eto.',
      button: 'Mewngofnodi',
    },
    other:
      'Rydych wedi mewngofnodi gyda chyfeiriad arall. Allgofnodwch, yna agorwch y dudalen hon eto.',
    bound:
      'Mae eich cyfrif yn perthyn i un prosiect arall yn unig nes i’w gyfeiriad gael ei ddilysu. Gofynnwch i weithredwr y gweinydd hwn ddilysu’r cyfeiriad.',
    closed:
      'Mae’r prosiect wedi’i analluogi ar hyn o bryd, felly ni all neb ymuno. Rhowch gynnig arall arni yn nes ymlaen.',
    accepted: {
      title: 'Croeso',
      text: 'Mae {email} bellach yn aelod o’r prosiect {project}.',
      button: 'Parhau',
    },
    gone: {
      title: 'Nid yw’r gwahoddiad hwn yn gweithio',
      text: 'Mae wedi’i ddefnyddio neu ei dynnu’n ôl, neu mae’n fwy na 7 diwrnod oed. Gofynnwch i’r sawl a’ch gwahoddodd am un newydd.',
    },
  },
}
