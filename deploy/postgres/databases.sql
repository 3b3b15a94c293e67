-- The image runs this once with psql, as its superuser, while the volume is empty. The superuser is Temporal's too; the ledger has
-- a role of its own, which can do nothing but use its own database.
\getenv ledger_password LEDGER_PASSWORD
create role ledger login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'ledger_password';
create database ledger owner ledger;

-- Made here, and not by Temporal's tool, because everybody may connect to a new database until it is revoked.
create database temporal;
create database temporal_visibility;
revoke all on database ledger, temporal, temporal_visibility, postgres, template1 from public;
